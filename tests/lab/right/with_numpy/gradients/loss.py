import numpy as np

from encoderlab.with_numpy import functional as f
from encoderlab.with_numpy.gradients import log_softmax_vjp
from encoderlab.with_numpy.loss import cross_entropy


def cross_entropy_vjp__one_hot(
    logits, targets, *, ignore_index=None, label_smoothing=0.0
):
    loss = cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )
    V = logits.shape[-1]
    counted = np.ones(targets.shape, bool)
    if ignore_index is not None:
        counted = targets != ignore_index
    hot = (targets[..., None] == np.arange(V)).astype(float)
    aim = (1 - label_smoothing) * hot + label_smoothing / V

    def backward(d):
        error = (f.softmax(logits) - aim) * counted[..., None]
        return d * error / max(1, np.count_nonzero(counted))

    return loss, backward


def cross_entropy_vjp__through_log_softmax(
    logits, targets, *, ignore_index=None, label_smoothing=0.0
):
    options = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
    loss = cross_entropy(logits, targets, **options)
    _, way_back = log_softmax_vjp(logits)

    def backward(d):
        d_log_p, V = np.zeros(logits.shape), logits.shape[-1]
        places = [p for p in np.ndindex(*targets.shape) if targets[p] != ignore_index]
        for place in places:
            d_log_p[place] -= d * label_smoothing / V / len(places)
            d_log_p[(*place, targets[place])] -= d * (1 - label_smoothing) / len(places)
        return way_back(d_log_p)

    return float(loss), backward
