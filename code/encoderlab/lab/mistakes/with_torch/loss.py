"""What goes wrong with the loss in PyTorch."""

import torch
import torch.nn.functional as F

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import loss as ours

here = wrong("cross_entropy")


def of_rows(piece):
    """Build a loss from one of the positions that count: scores (N, V), classes."""

    def whole(logits, targets, *, ignore_index=None, label_smoothing=0.0):
        options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
        right = ours.cross_entropy(logits, targets, **options)  # the errors
        counted = torch.ones_like(targets, dtype=torch.bool)
        if ignore_index is not None:
            counted = targets != ignore_index
        if not counted.any():
            return right
        return piece(logits[counted], targets[counted], label_smoothing)

    return whole


def rows(name):
    """Enter a loss of the positions that count."""
    return wrong("cross_entropy", name, of_rows)


@rows("softmax_twice")
def _(x, t, smoothing):
    """you hand probabilities to a function that takes scores

    cross_entropy and log_softmax apply the softmax themselves
    """
    return F.cross_entropy(x.softmax(-1), t, label_smoothing=smoothing)


@rows("log_of_softmax")
def _(x, t, smoothing):
    """you take the log of softmax: a probability that rounds to 0 gives infinity

    use log_softmax, which never leaves the logs
    """
    log_p = x.softmax(-1).log()
    of_target = log_p.gather(-1, t[:, None])[:, 0]
    return -((1 - smoothing) * of_target + smoothing * log_p.mean(-1)).mean()


@rows("summed")
def _(x, t, smoothing):
    """you take the sum over the positions

    divide by the number of positions that count
    """
    return F.cross_entropy(x, t, label_smoothing=smoothing, reduction="sum")


@rows("smoothing_ignored")
def _(x, t, smoothing):
    """you do not use `label_smoothing`

    the target's share is 1 - eps, and each class gets eps / V
    """
    return F.cross_entropy(x, t)


@rows("smoothing_over_others")
def _(x, t, smoothing):
    """you spread the smoothing over the V - 1 other classes

    all V classes get eps / V, the right one too
    """
    share = smoothing * x.shape[-1] / (x.shape[-1] - 1)
    return F.cross_entropy(x, t, label_smoothing=share)


@rows("softmax_over_positions")
def _(x, t, smoothing):
    """you take the softmax over the positions

    the classes are the last axis
    """
    log_p = x.log_softmax(0)
    of_target = log_p.gather(-1, t[:, None])[:, 0]
    return -((1 - smoothing) * of_target + smoothing * log_p.mean(-1)).mean()


@rows("detached")
def _(x, t, smoothing):
    """your loss is cut off from the scores: no gradient comes back

    leave out detach(), .data, item() and no_grad()
    """
    return F.cross_entropy(x.detach(), t, label_smoothing=smoothing)


@here
def ignored_in_the_mean(logits, targets, *, ignore_index=None, **options):
    """you divide by all positions, those that are ignored too

    N is the number of positions that count
    """
    loss = ours.cross_entropy(logits, targets, ignore_index=ignore_index, **options)
    if ignore_index is None:
        return loss
    return loss * (targets != ignore_index).double().mean()


@here
def always_minus_100(logits, targets, *, ignore_index=None, **options):
    """you ignore -100 and nothing else, whatever `ignore_index` says

    compare the targets with `ignore_index`; None ignores nothing
    """
    return ours.cross_entropy(logits, targets, ignore_index=-100, **options)


@here
def mean_of_means(logits, targets, **options):
    """you take each sequence's mean and then theirs: a short one counts too much

    take one mean over all positions that count
    """
    whole = ours.cross_entropy(logits, targets, **options)
    if targets.ndim == 1:
        return whole
    pairs = zip(logits, targets, strict=True)
    return torch.stack([ours.cross_entropy(x, t, **options) for x, t in pairs]).mean()


@here
def nan_without_targets(logits, targets, *, ignore_index=None, **options):
    """you divide 0 by 0 where every target is ignored, as PyTorch's own does

    such a batch has the loss 0: clamp the number of positions to at least 1
    """
    loss = ours.cross_entropy(logits, targets, ignore_index=ignore_index, **options)
    if ignore_index is None:
        return loss
    counted = (targets != ignore_index).sum()
    return loss * counted / counted


@here
def negative_accepted(logits, targets, *, ignore_index=None, **options):
    """you let a negative class through: index -1 is the last class

    refuse targets below 0 that are not ignored
    """
    wraps = (targets < 0) & (targets >= -logits.shape[-1])
    if ignore_index is not None:
        wraps &= targets != ignore_index
    targets = torch.where(wraps, targets + logits.shape[-1], targets)
    return ours.cross_entropy(logits, targets, ignore_index=ignore_index, **options)
