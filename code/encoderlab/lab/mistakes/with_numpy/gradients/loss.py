"""What goes wrong in chapter 12 on the way back of the loss."""

import numpy as np

from encoderlab.lab.mistakes.with_numpy.gradients import wrong_way_back, zeros_back
from encoderlab.with_numpy.functional import softmax
from encoderlab.with_numpy.gradients import softmax_vjp
from encoderlab.with_numpy.loss import cross_entropy

_wrong = wrong_way_back("cross_entropy_vjp", cross_entropy)


def _aims(x, t, smoothing, spread=None):
    """What the probabilities should be."""
    V = x.shape[-1]
    aims = np.full(x.shape, smoothing / (V if spread is None else spread))
    hit = np.arange(V) == t[..., None]
    aims[hit] = 1 - smoothing + (smoothing / V if spread is None else 0)
    return aims


def _counted(t, ignored):
    return np.ones(t.shape, bool) if ignored is None else t != ignored


def _gradient(d, x, t, ignored, error, n=None):
    counted = _counted(t, ignored)
    n = max(counted.sum(), 1) if n is None else n
    return d * error * counted[..., None] / n


@_wrong("summed", "you forget to divide by N", "the loss is a mean")
def loss_summed(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    error = softmax(x) - _aims(x, t, label_smoothing)
    return _gradient(d, x, t, ignore_index, error, 1)


@_wrong(
    "ignored_in_the_mean", "you divide by all positions", "ignored ones do not count"
)
def loss_ignored_in_the_mean(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    error = softmax(x) - _aims(x, t, label_smoothing)
    return _gradient(d, x, t, ignore_index, error, t.size)


@_wrong("by_the_classes", "you divide by N V", "the mean is over positions alone")
def loss_by_the_classes(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    error = softmax(x) - _aims(x, t, label_smoothing)
    return _gradient(d, x, t, ignore_index, error) / x.shape[-1]


@_wrong("ignored_pushed", "ignored positions get a gradient", "set it to zeros there")
def loss_ignored_pushed(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    n = max(_counted(t, ignore_index).sum(), 1)
    return _gradient(d, x, t, None, softmax(x) - _aims(x, t, label_smoothing), n)


@_wrong(
    "nan_if_all_ignored", "with every target ignored you get NaN", "divide by 1 then"
)
def loss_nan_if_all_ignored(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    n = _counted(t, ignore_index).sum()
    error = softmax(x) - _aims(x, t, label_smoothing)
    return _gradient(d, x, t, ignore_index, error, n)


@_wrong("upstream_forgotten", "you ignore the gradient you are given", "multiply by it")
def loss_upstream_forgotten(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    error = softmax(x) - _aims(x, t, label_smoothing)
    return _gradient(1.0, x, t, ignore_index, error)


@_wrong(
    "no_target", "you give p and subtract no target", "p minus 1 at the right class"
)
def loss_no_target(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    return _gradient(d, x, t, ignore_index, softmax(x))


@_wrong("only_target", "only the right class gets a gradient", "all the others get p")
def loss_only_target(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    error = softmax(x) - _aims(x, t, label_smoothing)
    error = np.where(np.arange(x.shape[-1]) == t[..., None], error, 0)
    return _gradient(d, x, t, ignore_index, error)


@_wrong(
    "sign", "your gradient has the other sign", "p minus target, not target minus p"
)
def loss_sign(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    error = _aims(x, t, label_smoothing) - softmax(x)
    return _gradient(d, x, t, ignore_index, error)


@_wrong(
    "softmax_twice", "you go back through softmax once more", "p - target has it in"
)
def loss_softmax_twice(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    error = softmax_vjp(x)[1](softmax(x) - _aims(x, t, label_smoothing))
    return _gradient(d, x, t, ignore_index, error)


@_wrong(
    "no_smoothing", "your way back ignores label_smoothing", "it changes the target"
)
def loss_no_smoothing(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    return _gradient(d, x, t, ignore_index, softmax(x) - _aims(x, t, 0.0))


@_wrong(
    "smoothing_over_others", "you smooth over the V - 1 wrong classes", "over all V"
)
def loss_smoothing_over_others(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    aims = _aims(x, t, label_smoothing, x.shape[-1] - 1)
    return _gradient(d, x, t, ignore_index, softmax(x) - aims)


@_wrong("logits_for_p", "you take the scores for probabilities", "softmax comes first")
def loss_logits_for_p(d, y, x, t, *, ignore_index=None, label_smoothing=0.0):
    return _gradient(d, x, t, ignore_index, x - _aims(x, t, label_smoothing))


@zeros_back("cross_entropy_vjp", cross_entropy)
def loss_zeros(d, y, x, t, **options):
    return np.zeros(x.shape)
