"""What goes wrong with the share of right answers in PyTorch."""

import torch

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch.training import loop as ours

here = wrong("accuracy")


def of_answers(name):
    """Enter a share made from what is right (…) and what counts (…)."""

    def build(piece):
        def accuracy(logits, targets, *, ignore_index=-100):
            ours.accuracy(logits, targets, ignore_index=ignore_index)  # the errors
            right = (logits.argmax(-1) == targets) & ~logits.isnan().any(-1)
            return piece(right, targets != ignore_index)

        return accuracy

    return wrong("accuracy", name, build)


@of_answers("ignored_are_wrong")
def _(right, counted):
    """you divide by all positions: those that are ignored count as wrong

    take the mean over the positions that count
    """
    return right[counted].sum().item() / right.numel()


@of_answers("mean_of_rows")
def _(right, counted):
    """you take each sequence's share and then their mean: a short one counts too much

    take one mean over all positions that count
    """
    if right.ndim == 1:
        return right[counted].double().mean().item()
    counts = counted.sum(-1)
    shares = (right & counted).sum(-1).double() / counts.clamp(min=1)
    return shares[counts > 0].mean().item()


@of_answers("whole_sequences")
def _(right, counted):
    """you count the sequences in which every answer is right

    each position counts for itself
    """
    if right.ndim == 1:
        return right[counted].double().mean().item()
    return (right | ~counted).all(-1).double().mean().item()


@of_answers("count")
def _(right, counted):
    """you return how many are right

    divide by the number of positions that count
    """
    return float(right[counted].sum())


@of_answers("percent")
def _(right, counted):
    """you return percent

    a share is in [0, 1]
    """
    return 100 * right[counted].double().mean().item()


@of_answers("errors")
def _(right, counted):
    """you return the share of wrong answers

    count where the highest score is the target's
    """
    return 1 - right[counted].double().mean().item()


@of_answers("share_per_sequence")
def _(right, counted):
    """you return a share for each sequence

    one number is asked for, over all positions that count
    """
    return (right & counted).sum(-1) / counted.sum(-1).clamp(min=1)


@of_answers("tensor")
def _(right, counted):
    """you return a tensor

    .item() makes a float of a tensor that holds one number
    """
    return right[counted].double().mean()


@here
def always_minus_100(logits, targets, *, ignore_index=-100):
    """you ignore -100, whatever `ignore_index` says

    compare the targets with `ignore_index`
    """
    return ours.accuracy(logits, targets)


@here
def no_default(logits, targets, *, ignore_index=None):
    """you ignore nothing unless `ignore_index` is given

    without it -100 is ignored: ignore_index=-100 in the signature
    """
    if ignore_index is None:
        return nothing_ignored(logits, targets)
    return ours.accuracy(logits, targets, ignore_index=ignore_index)


@here
def nothing_ignored(logits, targets, *, ignore_index=-100):
    """you count the positions that are to be ignored

    leave out those where the target is `ignore_index`
    """
    never = int(targets.min()) - 1 if targets.numel() else ignore_index
    return ours.accuracy(logits, targets, ignore_index=never)


@here
def negatives_ignored(logits, targets, *, ignore_index=-100):
    """you ignore every negative target, and no other

    compare the targets with `ignore_index`, whatever it is
    """
    padded = targets.masked_fill(targets < 0, -100)
    return ours.accuracy(logits, padded)


@here
def guesses_ignored(logits, targets, *, ignore_index=-100):
    """you leave out positions by the class that is guessed

    what counts is said by the targets
    """
    ours.accuracy(logits, targets, ignore_index=ignore_index)  # the errors
    left_out = targets.masked_fill(logits.argmax(-1) == ignore_index, ignore_index)
    return ours.accuracy(logits, left_out, ignore_index=ignore_index)


@here
def along_axis_1(logits, targets, *, ignore_index=-100):
    """you look for the highest score along axis 1, which are the positions of a batch

    the classes are the last axis
    """
    ours.accuracy(logits, targets, ignore_index=ignore_index)  # the errors
    right = (logits.argmax(1) == targets) & ~logits.isnan().any(1)
    return right[targets != ignore_index].double().mean().item()


@here
def lowest(logits, targets, *, ignore_index=-100):
    """you take the lowest score

    argmax, not argmin
    """
    return ours.accuracy(-logits, targets, ignore_index=ignore_index)


@here
def largest_size(logits, targets, *, ignore_index=-100):
    """you take the score of the largest size: a score of -9 is lower than one of 1

    leave out abs() and the square
    """
    return ours.accuracy(logits.abs(), targets, ignore_index=ignore_index)


@here
def scores_of_the_target(logits, targets, *, ignore_index=-100):
    """you return the mean probability of the right class

    count how often its score is the highest
    """
    ours.accuracy(logits, targets, ignore_index=ignore_index)  # the errors
    counted = targets != ignore_index
    chosen = logits[counted].softmax(-1), targets[counted].clamp(min=0)[:, None]
    return torch.gather(chosen[0], -1, chosen[1]).mean().item()


@here
def nan_is_highest(logits, targets, *, ignore_index=-100):
    """you take NaN for the highest score, as argmax does

    leave such rows out of what is right: ~logits.isnan().any(-1)
    """
    filled = logits.masked_fill(logits.isnan(), torch.inf)
    return ours.accuracy(filled, targets, ignore_index=ignore_index)


@here
def nan_left_out(logits, targets, *, ignore_index=-100):
    """you take the highest of the other scores where one is NaN

    a row that holds NaN has no highest score, and is not right
    """
    filled = logits.masked_fill(logits.isnan(), -torch.inf)
    return ours.accuracy(filled, targets, ignore_index=ignore_index)


@here
def nan_rows_ignored(logits, targets, *, ignore_index=-100):
    """you leave out rows that hold NaN

    they count, and are not right
    """
    ours.accuracy(logits, targets, ignore_index=ignore_index)  # the errors
    left_out = targets.masked_fill(logits.isnan().any(-1), ignore_index)
    return ours.accuracy(logits, left_out, ignore_index=ignore_index)


@here
def infinite_rows_wrong(logits, targets, *, ignore_index=-100):
    """you take a row with an infinite score for wrong

    minus infinity is lower than any score; only NaN cannot be compared
    """
    broken = logits.isinf().any(-1, keepdim=True)
    filled = logits.masked_fill(broken, torch.nan)
    return ours.accuracy(filled, targets, ignore_index=ignore_index)


@here
def in_half_precision(logits, targets, *, ignore_index=-100):
    """you take the mean in the dtype of the scores, which may have two digits

    a mean of True and False is taken in float32 at least
    """
    ours.accuracy(logits, targets, ignore_index=ignore_index)  # the errors
    right = (logits.argmax(-1) == targets) & ~logits.isnan().any(-1)
    return right[targets != ignore_index].to(logits.dtype).mean().item()


@here
def nothing_counts(logits, targets, *, ignore_index=-100):
    """you return 0 or NaN where nothing counts

    raise ValueError: there is nothing to be right about
    """
    fits = targets.shape == logits.shape[:-1]
    if fits and not (targets != ignore_index).any():
        return 0.0
    return ours.accuracy(logits, targets, ignore_index=ignore_index)


@here
def shapes_broadcast(logits, targets, *, ignore_index=-100):
    """you do not compare the shapes: == repeats the targets of one sequence for all

    raise ValueError unless targets.shape is logits.shape[:-1]
    """
    shape = logits.shape[:-1]
    if targets.shape in (shape[1:], (1, *shape[1:])) and len(shape) > 1:
        targets = targets.expand(shape)
    return ours.accuracy(logits, targets, ignore_index=ignore_index)
