"""What goes wrong in the steps of a training, and in the loop around them."""

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.lab.mistakes.with_numpy import training
from encoderlab.with_numpy.training import loop as ours


@training.clip("each_for_itself")
def _(gradients, c, norm):
    """you shorten each array by its own norm, which turns the whole direction

    there is one norm, of all arrays taken as one vector
    """
    return {n: g * min(1, c / np.linalg.norm(g)) for n, g in gradients.items()}


@training.clip("by_value")
def _(gradients, c, norm):
    """you cut off each value, which turns the direction

    multiply all values by the same factor
    """
    return {n: np.clip(g, -c, c) for n, g in gradients.items()}


@training.clip("always")
def _(gradients, c, norm):
    """you bring every gradient to length c, short ones too

    the factor is min(1, c / norm)
    """
    return {n: g * c / norm for n, g in gradients.items()}


@training.clip("never")
def _(gradients, c, norm):
    """you give the gradients back as they are

    multiply them where their norm is above max_norm
    """
    return gradients


@wrong("clip_gradients", "in_place")
def in_place(gradients, max_norm):
    """you shorten the caller's arrays

    make new ones: g * factor, not g *= factor
    """
    clipped, norm = ours.clip_gradients(gradients, max_norm)
    for name, gradient in gradients.items():
        gradient[...] = clipped[name]
    return gradients, norm


@wrong("clip_gradients", "nan_spreads")
def nan_spreads(gradients, max_norm):
    """you multiply by max_norm / norm even where the norm is not finite

    no factor would mend that: give the gradients back as they are
    """
    norm = ours.clip_gradients(gradients, max_norm)[1]
    factor = 1.0 if norm <= max_norm else max_norm / norm
    return {n: g * factor for n, g in gradients.items()}, norm


@training.gradients_of("options_dropped")
def _(model, inputs, targets, asked, rest):
    """you do not hand the options on to the model

    token_classifier_vjp takes `*inputs, **options`
    """
    return training.through(model, inputs, targets, asked, {})


@training.gradients_of("mask_dropped")
def _(model, inputs, targets, asked, rest):
    """you hand only the first input on to the model: a mask that follows is lost

    token_classifier_vjp takes `*inputs, **options`
    """
    return training.through(model, inputs[:1], targets, asked, rest)


@training.gradients_of("always_minus_100")
def _(model, inputs, targets, asked, rest):
    """you ignore -100, whatever `ignore_index` says

    hand it on to the loss
    """
    return training.through(
        model, inputs, targets, asked | {"ignore_index": -100}, rest
    )


@training.gradients_of("smoothing_dropped")
def _(model, inputs, targets, asked, rest):
    """you do not hand `label_smoothing` on to the loss

    cross_entropy_vjp takes it
    """
    return training.through(
        model, inputs, targets, asked | {"label_smoothing": 0.0}, rest
    )


@training.gradients_of("summed")
def _(model, inputs, targets, asked, rest):
    """you take the sum over the positions that count

    loss and gradients are those of the mean
    """
    count = (targets != asked["ignore_index"]).sum()
    loss, gradients = training.through(model, inputs, targets, asked, rest, count)
    return loss * count, gradients


@training.gradients_of("padding_in_mean")
def _(model, inputs, targets, asked, rest):
    """you divide by all positions, padded ones too

    N is the number of positions that count
    """
    share = (targets != asked["ignore_index"]).mean()
    loss, gradients = training.through(model, inputs, targets, asked, rest, share)
    return loss * share, gradients


@training.gradients_of("head_only")
def _(model, inputs, targets, asked, rest):
    """you return the gradients of W and b alone

    the encoder is trained too
    """
    loss, gradients = training.through(model, inputs, targets, asked, rest)
    return loss, {name: gradients[name] for name in ("W", "b")}


@training.counted("over_all")
def _(right, counted):
    """you divide by all positions, ignored ones too

    divide by the number of those that count
    """
    return (right & counted).mean()


@training.counted("ignored_counted")
def _(right, counted):
    """you count the ignored positions

    leave them out of both numbers
    """
    return right.mean()


@training.counted("number")
def _(right, counted):
    """you return the number of right answers

    divide by the number of positions that count
    """
    return (right & counted).sum()


@training.counted("mean_of_means")
def _(right, counted):
    """you take each sequence's share and then their mean

    a short sequence must not count as much as a long one
    """
    return ((right & counted).sum(-1) / counted.sum(-1)).mean()


@wrong("accuracy", "always_minus_100")
def always_minus_100(logits, targets, *, ignore_index=-100):
    """you ignore -100, whatever `ignore_index` says

    compare the targets with `ignore_index`
    """
    return ours.accuracy(logits, targets)


@wrong("accuracy", "wrong_axis")
def along_axis_1(logits, targets, *, ignore_index=-100):
    """you look for the highest score along axis 1, which are the positions of a batch

    the classes are the last axis
    """
    return (logits.argmax(1) == targets)[targets != ignore_index].mean()


@wrong("accuracy", "nothing_counts")
def nothing_counts(logits, targets, *, ignore_index=-100):
    """you return 0 or NaN where nothing counts

    raise ValueError: there is nothing to be right about
    """
    counted = (targets != ignore_index).any()
    options = {"ignore_index": ignore_index}
    return ours.accuracy(logits, targets, **options) if counted else np.nan


@training.dealt("no_shuffle")
def _(n, size, epochs, rng):
    """you deal the samples out in their own order

    cut a permutation into batches
    """
    return [rows for _ in range(epochs) for rows in training.cut(np.arange(n), size)]


@training.dealt("same_each_epoch")
def _(n, size, epochs, rng):
    """you draw one order and repeat it in each epoch

    draw a new permutation for each
    """
    return ours.minibatches(n, size, 1, rng=rng) * epochs


@training.dealt("last_dropped")
def _(n, size, epochs, rng):
    """you drop the last batch of an epoch where it is smaller

    each sample is used in every epoch
    """
    return [b for b in ours.minibatches(n, size, epochs, rng=rng) if len(b) == size]


@training.dealt("own_generator")
def _(n, size, epochs, rng):
    """you draw from a generator of your own

    use `rng`, so that another one gives another order
    """
    return ours.minibatches(n, size, epochs, rng=np.random.default_rng(0))


@training.dealt("drawn_again")
def _(n, size, epochs, rng):
    """you draw with replacement: some samples come twice, some never

    a permutation holds each once
    """
    return [
        rows
        for _ in range(epochs)
        for rows in training.cut(rng.integers(n, size=n), size)
    ]


@training.dealt("batches_shuffled")
def _(n, size, epochs, rng):
    """you shuffle the batches, which hold the same neighbours in each epoch

    shuffle the samples, then cut
    """
    batches = training.cut(np.arange(n), size)
    order = [i for _ in range(epochs) for i in rng.permutation(len(batches))]
    return [batches[i] for i in order]


@training.dealt("across_epochs")
def _(n, size, epochs, rng):
    """you cut all epochs as one sequence, so that a batch may hold a sample twice

    each epoch ends with a batch of its own
    """
    return training.cut(
        np.concatenate([rng.permutation(n) for _ in range(epochs)]), size
    )


@training.dealt("equal_parts")
def _(n, size, epochs, rng):
    """you split an epoch in nearly equal batches

    all have `batch_size` samples, and the last one what is left
    """
    parts = range(epochs), -(-n // size)
    return [b for _ in parts[0] for b in np.array_split(rng.permutation(n), parts[1])]


@wrong("minibatches", "numbers_unchecked")
def numbers_unchecked(num_samples, batch_size, epochs, *, rng):
    """you accept numbers below 1 and deal nothing

    raise ValueError
    """
    numbers = num_samples, batch_size, epochs
    return ours.minibatches(*numbers, rng=rng) if min(numbers) > 0 else []


@training.looped("accumulated")
def _(step, schedule, max_norm, optimizer):
    """you add up the gradients of all steps

    each step has the gradients of its batch alone
    """
    total = {}

    def summed(batch):
        loss, gradients = step(batch)
        total.update({n: g + total.get(n, 0) for n, g in gradients.items()})
        return loss, dict(total)

    return {"step": summed}


@training.looped("schedule_from_0")
def _(step, schedule, max_norm, optimizer):
    """you ask the schedule for step 0 first

    its steps are counted from 1
    """
    return {"schedule": schedule and (lambda t: schedule(t - 1))}


@training.looped("schedule_ignored")
def _(step, schedule, max_norm, optimizer):
    """you do not use the schedule

    hand its factor on to optimizer.step
    """
    return {"schedule": None}


@training.looped("factor_twice")
def _(step, schedule, max_norm, optimizer):
    """you multiply the gradients by the factor as well

    the factor is the learning rate's: hand it on to optimizer.step
    """
    return {"schedule": schedule and (lambda t: schedule(t) ** 2)}


@training.looped("not_clipped")
def _(step, schedule, max_norm, optimizer):
    """you do not use `max_norm`, or go on with the gradients from before the clipping

    the optimiser gets the shortened ones
    """
    return {"max_norm": None}


@training.watched("unchecked")
def _(loss, norm):
    """you go on with a loss or a gradient that is not finite

    raise FloatingPointError before the parameters are changed
    """
    return True


@training.watched("gradients_unchecked")
def _(loss, norm):
    """you look at the loss only: a gradient may be NaN or infinite

    look at the norm too
    """
    return np.isfinite(loss)


@wrong("fit", "loss_after")
def loss_after(step, batches, optimizer, *, schedule=None, **options):
    """you note each loss after the change

    note the one that came with the gradients
    """
    found = []
    for batch in batches:
        now = schedule and (lambda _: schedule(len(found) + 1))
        ours.fit(step, [batch], optimizer, schedule=now, **options)
        found.append(step(batch)[0])
    return np.array(found)
