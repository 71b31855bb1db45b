"""What goes wrong with the learning rate's schedule."""

from math import cos, pi, sin

from encoderlab import schedules as ours
from encoderlab.lab.mistakes.by_docstring import wrong


def _rise(step, warmup):
    return step / warmup if step < warmup else 1.0


def _part(step, start, end):
    return min(max((step - start) / (end - start), 0.0), 1.0)


def linear(name):
    """Enter the factor after the warm-up: from step, warm-up and total."""

    def build(factor):
        def schedule(warmup_steps, total_steps):
            ours.warmup_linear(warmup_steps, total_steps)  # the errors
            return lambda step: factor(step, warmup_steps, total_steps)

        return schedule

    return wrong("warmup_linear", name, build)


@linear("counts_from_0")
def _(step, w, n):
    """you count the steps from 0, so that the first step changes nothing

    steps are counted from 1: the factor is 1 at step `warmup_steps`
    """
    return ours.warmup_linear(w, n)(step - 1) if step <= n else 0.0


@linear("never_reaches_1")
def _(step, w, n):
    """you divide by `warmup_steps + 1`, so that the rise ends below 1

    at the last step of the warm-up the factor is step / warmup_steps = 1
    """
    return step / (w + 1) if step <= w else 1.0 - _part(step, w, n)


@linear("total_for_rest")
def _(step, w, n):
    """you fall from the first step on: the factor jumps down after the warm-up

    divide the steps since the warm-up by those that are left after it
    """
    return step / w if step < w else max(1.0 - step / n, 0.0)


@linear("product")
def _(step, w, n):
    """you multiply the rise by a fall that runs from the first step

    the fall starts where the rise ends
    """
    return _rise(step, w) * max(1.0 - step / n, 0.0)


@linear("one_step_late")
def _(step, w, n):
    """you reach 0 one step after the last

    look at the numerator: the factor is 0 at step `total_steps`
    """
    return _rise(step, w) * (1.0 - _part(step, w, n + 1))


@linear("negative_after")
def _(step, w, n):
    """your factor is below 0 after the last step, and climbs the hill of the loss

    keep it at 0 once `total_steps` is reached
    """
    return step / w if step < w else (n - step) / (n - w)


@linear("zero_division")
def _(step, w, n):
    """you divide by `warmup_steps` even where it is 0

    without a warm-up there is no rise to compute
    """
    return min(step / w, 1.0 - _part(step, w, n))


@linear("no_fall")
def _(step, w, n):
    """your factor stays at 1 after the warm-up

    what remains of the training takes it down to 0
    """
    return _rise(step, w)


@linear("no_rise")
def _(step, w, n):
    """you leave the warm-up out and start at 1

    up to `warmup_steps` the factor is step / warmup_steps
    """
    return 1.0 - _part(step, w, n)


def cosine(name):
    """Enter the factor after the warm-up: from step, warm-up, total and final."""

    def build(factor):
        def schedule(warmup_steps, total_steps, final=0.0):
            w, n = warmup_steps, total_steps
            ours.warmup_cosine(w, n, final)  # the errors
            return lambda t: t / w if t < w else factor(t, w, n, final)

        return schedule

    return wrong("warmup_cosine", name, build)


def _wave(part):
    return 0.5 * (1.0 + cos(pi * part))


@cosine("total_for_rest")
def _(step, w, n, final):
    """you take the cosine of step / total_steps: it jumps where the warm-up ends

    the wave starts at the end of the warm-up and has the steps left after it
    """
    return final + (1.0 - final) * _wave(_part(step, 0, n))


@cosine("whole_wave")
def _(step, w, n, final):
    """you go along a whole wave, which ends at 1 again

    half a wave is from 0 to pi
    """
    return final + (1.0 - final) * _wave(2 * _part(step, w, n))


@cosine("quarter_wave")
def _(step, w, n, final):
    """you go along a quarter of a wave, which falls steeply at the end

    half a wave: (1 + cos) / 2, with an angle from 0 to pi
    """
    return final + (1.0 - final) * cos(pi / 2 * _part(step, w, n))


@cosine("no_half")
def _(step, w, n, final):
    """you leave out the half: 1 + cos starts at 2

    look at the factor before (1 + cos)
    """
    return final + (1.0 - final) * 2 * _wave(_part(step, w, n))


@cosine("final_added")
def _(step, w, n, final):
    """you add `final` to the whole wave, which then starts above 1

    the wave is shrunk to 1 - final before it is added
    """
    return final + _wave(_part(step, w, n))


@cosine("final_as_floor")
def _(step, w, n, final):
    """you cut the wave off at `final`, instead of letting it end there

    the wave is shrunk to 1 - final and stands on final
    """
    return max(final, _wave(_part(step, w, n)))


@cosine("final_ignored")
def _(step, w, n, final):
    """you do not use `final`

    the wave falls to it, not to 0
    """
    return _wave(_part(step, w, n))


@cosine("final_forgotten_below")
def _(step, w, n, final):
    """you shrink the wave by 1 - final and do not lift it

    at the last step `final` must be left
    """
    return (1.0 - final) * _wave(_part(step, w, n))


@cosine("rises_again")
def _(step, w, n, final):
    """your factor rises again after the last step

    keep the part of the way at 1 at most
    """
    return final + (1.0 - final) * _wave((step - w) / (n - w))


@cosine("sine")
def _(step, w, n, final):
    """you take the sine, which is 0 at the start

    the cosine is 1 at an angle of 0
    """
    return final + (1.0 - final) * 0.5 * (1.0 + sin(pi * _part(step, w, n)))


@cosine("one_step_late")
def _(step, w, n, final):
    """you count the steps after the warm-up from 0, so that the end comes late

    at step `total_steps` the angle is pi
    """
    return final + (1.0 - final) * _wave(_part(step - 1, w, n))


@cosine("linear")
def _(step, w, n, final):
    """you fall in a straight line

    the cosine is missing
    """
    return final + (1.0 - final) * (1.0 - _part(step, w, n))


def root(name):
    """Enter a factor: from step, width and warm-up."""

    def build(factor):
        def schedule(d_model, warmup_steps):
            ours.inverse_square_root(d_model, warmup_steps)  # the errors
            return lambda step: factor(step, d_model, warmup_steps)

        return schedule

    return wrong("inverse_square_root", name, build)


@root("zero_division")
def _(step, d, w):
    """you take 0 to the power -1/2 at step 0, which has no value

    at step 0 the factor is 0: only the rise counts there
    """
    return d**-0.5 * min(step**-0.5, step * w**-1.5)


@root("counts_from_0")
def _(step, d, w):
    """you count the steps from 0

    step 1 gives 1 * w**-1.5, not 0
    """
    return ours.inverse_square_root(d, w)(max(step - 1, 0))


@root("no_width")
def _(step, d, w):
    """you do not use `d_model`

    the factor is divided by the root of the width
    """
    return ours.inverse_square_root(1, w)(step)


@root("divided_by_width")
def _(step, d, w):
    """you divide by `d_model`, not by its root

    look at the exponent, -1/2
    """
    return ours.inverse_square_root(d * d, w)(step)


@root("times_root")
def _(step, d, w):
    """you multiply by the root of `d_model`

    wider models learn in smaller steps
    """
    return d * ours.inverse_square_root(d, w)(step)


@root("maximum")
def _(step, d, w):
    """you take the larger of rise and fall

    the smaller of both is the rise first, and the fall after the warm-up
    """
    return d**-0.5 * max(max(step, 1) ** -0.5, step * w**-1.5) if step else 0.0


@root("rise_too_steep")
def _(step, d, w):
    """you rise by w**-0.5 a step, so that the warm-up ends after few steps

    at step w both are equal: w**-0.5 = w * w**-1.5
    """
    return d**-0.5 * min(max(step, 1) ** -0.5, step * w**-0.5)


@root("scaled_to_1")
def _(step, d, w):
    """you scale the factor to be 1 at the end of the warm-up

    this schedule is the learning rate itself, (D * w)**-0.5 at its peak
    """
    return min(max(step, 1) ** -0.5, step * w**-1.5) * w**0.5


@root("linear_fall")
def _(step, d, w):
    """you fall with the step, not with its root

    look at the exponent of the step
    """
    return d**-0.5 * min(w**0.5 / max(step, 1), step * w**-1.5)
