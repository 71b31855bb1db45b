"""Learning-rate schedules: functions from a step, counted from 1, to a factor.

An optimiser multiplies its learning rate by the factor of each step.
"""

from collections.abc import Callable
from math import cos, pi

Schedule = Callable[[int], float]


def warmup_linear(warmup_steps: int, total_steps: int) -> Schedule:
    """Rise in a straight line, then fall in one to 0.

    Parameters
    ----------
    warmup_steps
        Steps of the rise, at least 0; the factor is 1 at the last of them.
    total_steps
        Steps of the whole training, more than ``warmup_steps``; 0 is reached at the
        last.

    Returns
    -------
    Callable
        From a step to its factor, in [0, 1]; 0 after the last step.

    Raises
    ------
    ValueError
        If a number of steps is out of range.

    Notes
    -----
    Devlin and others, 2019, appendix A.2, train so. Chapter 13.

    Examples
    --------
    >>> schedule = warmup_linear(2, 6)
    >>> [schedule(step) for step in range(1, 7)]
    [0.5, 1.0, 0.75, 0.5, 0.25, 0.0]
    """
    _require_steps(warmup_steps, total_steps)
    return lambda step: _warmup(
        step, warmup_steps, 1.0 - _done(step, warmup_steps, total_steps)
    )


def warmup_cosine(warmup_steps: int, total_steps: int, final: float = 0.0) -> Schedule:
    r"""Rise in a straight line, then fall along half a cosine wave.

    .. math:: f(t) = f_\text{final} + (1 - f_\text{final}) \, \tfrac12 \left(1 + \cos
        \pi \frac{t - w}{n - w}\right) \quad (t \ge w)

    with w warm-up steps of n.

    Parameters
    ----------
    warmup_steps
        Steps of the rise, at least 0; the factor is 1 at the last of them.
    total_steps
        Steps of the whole training, more than ``warmup_steps``.
    final
        The factor at the last step and after it, in [0, 1].

    Returns
    -------
    Callable
        From a step to its factor, in [0, 1].

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Loshchilov and Hutter, 2017, section 3, without their restarts. Chapter 13.

    Examples
    --------
    >>> schedule = warmup_cosine(1, 5)
    >>> [round(schedule(step), 3) for step in range(1, 6)]
    [1.0, 0.854, 0.5, 0.146, 0.0]
    """
    _require_steps(warmup_steps, total_steps)
    if not 0 <= final <= 1:
        raise ValueError(f"final must be in [0, 1], got {final}")

    def factor(step):
        wave = 0.5 * (1.0 + cos(pi * _done(step, warmup_steps, total_steps)))
        return _warmup(step, warmup_steps, final + (1.0 - final) * wave)

    return factor


def inverse_square_root(d_model: int, warmup_steps: int) -> Schedule:
    r"""Rise in a straight line, then fall with the root of the step.

    .. math:: f(t) = D^{-1/2} \min\left(t^{-1/2},\; t \, w^{-3/2}\right)

    with w warm-up steps. It is the learning rate itself, for an optimiser whose own is
    1.

    Parameters
    ----------
    d_model
        Width of the model, D, at least 1: wider models learn in smaller steps.
    warmup_steps
        Steps of the rise, at least 1.

    Returns
    -------
    Callable
        From a step to its factor; 0 at step 0.

    Raises
    ------
    ValueError
        If a number is below 1.

    Notes
    -----
    Vaswani and others, 2017, section 5.3, with 4,000 steps of warm-up. Chapter 13.

    Examples
    --------
    >>> schedule = inverse_square_root(512, 4000)
    >>> f"{schedule(1):.9e} {schedule(4000):.8e}"
    '1.746928107e-07 6.98771243e-04'
    """
    if d_model < 1 or warmup_steps < 1:
        raise ValueError(
            "d_model and warmup_steps must be at least 1, got "
            f"{d_model} and {warmup_steps}"
        )
    scale = d_model**-0.5
    return lambda step: scale * min(max(step, 1) ** -0.5, step * warmup_steps**-1.5)


def _warmup(step, warmup_steps, after):
    return step / warmup_steps if step < warmup_steps else after


def _done(step, warmup_steps, total_steps):
    """How much of the way after the warm-up lies behind, from 0 to 1."""
    return min(max((step - warmup_steps) / (total_steps - warmup_steps), 0.0), 1.0)


def _require_steps(warmup_steps, total_steps):
    if not 0 <= warmup_steps < total_steps:
        raise ValueError(
            "warmup_steps must be at least 0 and less than total_steps, got "
            f"{warmup_steps} and {total_steps}"
        )
