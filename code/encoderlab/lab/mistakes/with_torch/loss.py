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


def smoothed(log_p, t, smoothing, spread=None):
    """The loss of each position; ``spread`` is the share of all classes together."""
    spread = smoothing if spread is None else spread
    of_target = log_p.gather(-1, t[:, None])[:, 0]
    return -(1 - smoothing) * of_target - spread * log_p.mean(-1)


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
    return smoothed(x.softmax(-1).log(), t, smoothing).mean()


@rows("exp_over_sum")
def _(x, t, smoothing):
    """you divide exp by its sum: exp(1000) is infinite

    use log_softmax, which never leaves the logs
    """
    log_p = (x.exp() / x.exp().sum(-1, keepdim=True)).log()
    return smoothed(log_p, t, smoothing).mean()


@rows("no_softmax")
def _(x, t, smoothing):
    """you take the scores for logarithms of probabilities

    log_softmax makes them so
    """
    return smoothed(x, t, smoothing).mean()


@rows("no_log")
def _(x, t, smoothing):
    """you take the probabilities, not their logarithms

    log_softmax in place of softmax
    """
    return smoothed(x.softmax(-1), t, smoothing).mean()


@rows("sign_forgotten")
def _(x, t, smoothing):
    """you forget the minus: a loss is at least 0

    a logarithm of a probability is 0 at most
    """
    return -smoothed(x.log_softmax(-1), t, smoothing).mean()


@rows("smoothing_not_divided")
def _(x, t, smoothing):
    """you give each class the whole smoothing: take the mean over them, not the sum

    each of the V classes gets eps / V
    """
    return smoothed(x.log_softmax(-1), t, smoothing, x.shape[-1] * smoothing).mean()


@rows("target_keeps_all")
def _(x, t, smoothing):
    """you leave the target its whole share: the shares sum to more than 1

    the target's share is 1 - eps, and each class gets eps / V
    """
    log_p = x.log_softmax(-1)
    return (smoothed(log_p, t, 0.0) - smoothing * log_p.mean(-1)).mean()


@rows("shares_swapped")
def _(x, t, smoothing):
    """you give eps to the target and 1 - eps to all classes

    the target's share is 1 - eps, and each class gets eps / V
    """
    return smoothed(x.log_softmax(-1), t, 1 - smoothing).mean()


@rows("target_loses_alone")
def _(x, t, smoothing):
    """you take eps from the target and give it to nobody

    the target's share is 1 - eps, and each class gets eps / V
    """
    return smoothed(x.log_softmax(-1), t, smoothing, 0.0).mean()


@rows("target_without_its_part")
def _(x, t, smoothing):
    """you give eps / V to the other classes alone: the shares sum to less than 1

    all V classes get eps / V, the right one too
    """
    log_p = x.log_softmax(-1)
    own = smoothing / x.shape[-1] * smoothed(log_p, t, 0.0)
    return (smoothed(log_p, t, smoothing) - own).mean()


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
    return smoothed(x.log_softmax(0), t, smoothing).mean()


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


def of_all(name):
    """Enter a loss of scores and targets as they are, both options set."""

    def build(piece):
        def whole(logits, targets, *, ignore_index=None, label_smoothing=0.0):
            options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
            ours.cross_entropy(logits, targets, **options)  # the errors
            return piece(logits, targets, **options)

        return whole

    return wrong("cross_entropy", name, build)


def of_each(logits, targets, *, ignore_index, label_smoothing):
    """The loss of each position, in one axis; 0 where it is ignored."""
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.flatten(),
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
        reduction="none",
    )


@of_all("of_each_position")
def _(logits, targets, **options):
    """you return a loss for each position

    one number is asked for, the mean over the positions that count
    """
    return of_each(logits, targets, **options).view_as(targets)


@of_all("of_each_flat")
def _(logits, targets, **options):
    """you return a loss for each position, all in one axis

    one number is asked for, the mean over the positions that count
    """
    return of_each(logits, targets, **options)


@of_all("of_each_counted")
def _(logits, targets, *, ignore_index, label_smoothing):
    """you return a loss for each position that counts

    one number is asked for, their mean
    """
    options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
    counted = targets.flatten() != (-100 if ignore_index is None else ignore_index)
    return of_each(logits, targets, **options)[counted]


@of_all("as_float")
def _(logits, targets, **options):
    """you return a float: no gradient comes back

    leave out item() and float(): the loss is a tensor
    """
    return ours.cross_entropy(logits, targets, **options).item()


@of_all("divided_by_batch")
def _(logits, targets, **options):
    """you divide the sum by the number of sequences

    N is the number of positions that count
    """
    return of_each(logits, targets, **options).sum() / len(targets)


@of_all("ignore_index_unused")
def _(logits, targets, *, ignore_index, label_smoothing):
    """you do not use `ignore_index`

    leave out the positions whose target it is, from the sum and from N
    """
    log_p = logits.log_softmax(-1).flatten(0, -2)
    return smoothed(log_p, targets.flatten(), label_smoothing).mean()


@of_all("none_handed_on")
def _(logits, targets, *, ignore_index, label_smoothing):
    """you hand None on to PyTorch's ignore_index, which takes whole numbers alone

    None ignores nothing: where it is given, put a number that is no class
    """
    if ignore_index is None:
        raise TypeError("ignore_index must be int")
    return F.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@of_all("zero_is_none")
def _(logits, targets, *, ignore_index, label_smoothing):
    """you take an ignore_index of 0 for None: `ignore_index or …`, `if ignore_index:`

    ask for `ignore_index is None`
    """
    options = {"ignore_index": ignore_index or None, "label_smoothing": label_smoothing}
    return ours.cross_entropy(logits, targets, **options)


@of_all("not_flattened")
def _(logits, targets, *, ignore_index, label_smoothing):
    """you hand all axes to PyTorch's own, which takes axis 1 for the classes

    flatten the positions into one axis: (N, V) and (N,)
    """
    return F.cross_entropy(
        logits,
        targets,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
