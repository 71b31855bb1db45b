"""What goes wrong with the loss."""

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_numpy.functional import log_softmax, softmax
from encoderlab.with_numpy.loss import cross_entropy


def loss(name):
    """Enter a loss of the positions that count: scores (N, V), classes, smoothing."""

    def build(of_rows):
        def whole(logits, targets, *, ignore_index=None, label_smoothing=0.0):
            options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
            right = cross_entropy(logits, targets, **options)  # the errors
            counted = targets != ignore_index
            if not counted.any():
                return right
            return of_rows(logits[counted], targets[counted], label_smoothing)

        return whole

    return wrong("cross_entropy", name, build)


def _mean(log_p, t, smoothing):
    of_target = log_p[np.arange(len(t)), t]
    return -((1 - smoothing) * of_target + smoothing * log_p.mean(-1)).mean()


@loss("no_softmax")
def _(x, t, smoothing):
    """you take the scores themselves for log-probabilities

    put them through log_softmax first
    """
    return _mean(x, t, smoothing)


@loss("log_of_softmax")
def _(x, t, smoothing):
    """you take the log of softmax: a probability that rounds to 0 gives infinity

    use log_softmax, which never leaves the logs
    """
    return _mean(np.log(softmax(x)), t, smoothing)


@loss("no_shift")
def _(x, t, smoothing):
    """you take exp of the scores as they are, which overflows for large ones

    subtract each row's largest score first
    """
    log_p = x - np.log(np.exp(x.astype(float)).sum(-1, keepdims=True))
    return _mean(log_p, t, smoothing)


@loss("softmax_twice")
def _(x, t, smoothing):
    """you put probabilities through softmax once more

    log_softmax takes the scores, not their softmax
    """
    return _mean(log_softmax(softmax(x)), t, smoothing)


@loss("no_log")
def _(x, t, smoothing):
    """you leave out the logarithm: minus the probability

    the loss of a position is -log p
    """
    return _mean(softmax(x), t, smoothing)


@loss("base_2")
def _(x, t, smoothing):
    """you take the logarithm to base 2: bits

    the loss is in nats, with the natural logarithm
    """
    return _mean(log_softmax(x), t, smoothing) / np.log(2)


@loss("sign")
def _(x, t, smoothing):
    """you forget the minus: the better, the larger

    look at the sign: log-probabilities are below 0, a loss is above
    """
    return -_mean(log_softmax(x), t, smoothing)


@loss("summed")
def _(x, t, smoothing):
    """you take the sum over the positions

    divide by the number of positions that count
    """
    return _mean(log_softmax(x), t, smoothing) * len(t)


@loss("mean_over_classes")
def _(x, t, smoothing):
    """you take the mean of one-hot targets times log-probabilities over classes too

    sum over the classes, then take the mean over the positions
    """
    return _mean(log_softmax(x), t, smoothing) / x.shape[-1]


@loss("softmax_over_positions")
def _(x, t, smoothing):
    """you take the softmax over the positions

    the classes are the last axis
    """
    return _mean(log_softmax(x, axis=0), t, smoothing)


@loss("smoothing_ignored")
def _(x, t, smoothing):
    """you do not use `label_smoothing`

    the target's share is 1 - eps, and each class gets eps / V
    """
    return _mean(log_softmax(x), t, 0.0)


@loss("smoothing_over_others")
def _(x, t, smoothing):
    """you spread the smoothing over the V - 1 other classes

    all V classes get eps / V, the right one too
    """
    num_classes = x.shape[-1]
    return _mean(log_softmax(x), t, smoothing * num_classes / (num_classes - 1))


@loss("smoothing_summed")
def _(x, t, smoothing):
    """you give each class eps: the sum of the log-probabilities, not their mean

    eps is shared by the V classes
    """
    log_p = log_softmax(x)
    return (1 - smoothing) * _mean(log_p, t, 0.0) - smoothing * log_p.sum(-1).mean()


@loss("smoothing_not_taken")
def _(x, t, smoothing):
    """you add the smoothing without taking it from the target

    the target keeps 1 - eps
    """
    return _mean(log_softmax(x), t, 0.0) - smoothing * log_softmax(x).mean()


@loss("smoothing_swapped")
def _(x, t, smoothing):
    """you give the target eps, and spread 1 - eps

    without smoothing, all of it is the target's
    """
    return _mean(log_softmax(x), t, 1 - smoothing)


@wrong("cross_entropy", "ignored_in_mean")
def ignored_count_in_the_mean(logits, targets, *, ignore_index=None, **options):
    """you divide by all positions, those that are ignored too

    N is the number of positions that count
    """
    counted = np.mean(targets != ignore_index)
    return counted * cross_entropy(
        logits, targets, ignore_index=ignore_index, **options
    )


@wrong("cross_entropy", "ignored_as_class_0")
def ignored_as_class_0(logits, targets, *, ignore_index=None, **options):
    """you take ignored positions for class 0 and count them

    leave them out of the sum and of N
    """
    cross_entropy(logits, targets, ignore_index=ignore_index, **options)  # errors
    targets = np.where(targets == ignore_index, 0, targets)
    return cross_entropy(logits, targets, **options)


@wrong("cross_entropy", "always_minus_100")
def always_minus_100(logits, targets, *, ignore_index=None, **options):
    """you ignore -100 and nothing else, whatever `ignore_index` says

    compare the targets with `ignore_index`; None ignores nothing
    """
    return cross_entropy(logits, targets, ignore_index=-100, **options)


@wrong("cross_entropy", "mean_of_means")
def mean_of_the_sequences_means(logits, targets, **options):
    """you take each sequence's mean and then theirs: a short one counts too much

    take one mean over all positions that count
    """
    whole = cross_entropy(logits, targets, **options)
    if targets.ndim == 1:
        return whole
    pairs = zip(logits, targets, strict=True)
    return np.mean([cross_entropy(x, t, **options) for x, t in pairs])


@wrong("cross_entropy", "nan_without_targets")
def nan_without_targets(logits, targets, *, ignore_index=None, **options):
    """you divide 0 by 0 where every target is ignored

    such a batch has the loss 0
    """
    loss = cross_entropy(logits, targets, ignore_index=ignore_index, **options)
    return loss if (targets != ignore_index).any() else np.float64("nan")


@wrong("cross_entropy", "negative_accepted")
def negative_accepted(logits, targets, *, ignore_index=None, **options):
    """you let a negative class through: index -1 is the last class

    refuse targets below 0 that are not ignored
    """
    wraps = (targets < 0) & (targets >= -logits.shape[-1]) & (targets != ignore_index)
    targets = np.where(wraps, targets + logits.shape[-1], targets)
    return cross_entropy(logits, targets, ignore_index=ignore_index, **options)
