"""What goes wrong in chapter 12 on the way back of the norms."""

import numpy as np

from encoderlab.lab.mistakes.with_numpy.gradients import wrong_way_back, zeros_back
from encoderlab.with_numpy import normalization as ours

layer = wrong_way_back("layer_norm_vjp", ours.layer_norm)
rms = wrong_way_back("rms_norm_vjp", ours.rms_norm)


def _mean(x):
    return x.mean(axis=-1, keepdims=True)


def _over_batch(d):
    return d.reshape(-1, d.shape[-1]).sum(axis=0)


def _parts(d, x, gamma, eps):
    """The normed vectors, the gradient of them, and the deviation."""
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    return (x - _mean(x)) / deviation, gamma * d, deviation


def _layer(d, n, d_n, deviation, mean=1, along=1):
    d_x = d_n - mean * _mean(d_n) - along * n * _mean(d_n * n)
    return d_x / deviation, _over_batch(d * n), _over_batch(d)


@layer("no_mean_term", "you leave out the mean of d_n", "the mean of x depends on x")
def layer_no_mean_term(d, y, x, gamma, beta, eps=1e-5):
    return _layer(d, *_parts(d, x, gamma, eps), mean=0)


@layer("no_n_term", "you leave out n * mean(d_n * n)", "the variance depends on x")
def layer_no_n_term(d, y, x, gamma, beta, eps=1e-5):
    return _layer(d, *_parts(d, x, gamma, eps), along=0)


@layer("constants", "you take mean and variance for constants", "both depend on x")
def layer_constants(d, y, x, gamma, beta, eps=1e-5):
    return _layer(d, *_parts(d, x, gamma, eps), mean=0, along=0)


@layer("sums", "you subtract sums where means belong", "divide both by D")
def layer_sums(d, y, x, gamma, beta, eps=1e-5):
    return _layer(d, *_parts(d, x, gamma, eps), *2 * [x.shape[-1]])


@layer("no_gamma", "gamma is missing on the way back to x", "d_n is gamma * d_y")
def layer_no_gamma(d, y, x, gamma, beta, eps=1e-5):
    return _layer(d, *_parts(d, x, np.ones_like(gamma), eps))


@layer("no_eps", "your way back leaves eps out", "divide by sqrt(variance + eps)")
def layer_no_eps(d, y, x, gamma, beta, eps=1e-5):
    return _layer(d, *_parts(d, x, gamma, 0.0))


@layer("eps_only_forward", "the last division leaves eps out", "sqrt(variance + eps)")
def layer_eps_only_forward(d, y, x, gamma, beta, eps=1e-5):
    n, d_n, _ = _parts(d, x, gamma, eps)
    return _layer(d, n, d_n, x.std(axis=-1, keepdims=True))


@layer("by_the_variance", "you divide by the variance", "divide by its root")
def layer_by_the_variance(d, y, x, gamma, beta, eps=1e-5):
    n, d_n, deviation = _parts(d, x, gamma, eps)
    return _layer(d, n, d_n, deviation**2)


@layer("y_for_n", "you use y where n belongs", "n comes before gamma and beta")
def layer_y_for_n(d, y, x, gamma, beta, eps=1e-5):
    _, d_n, deviation = _parts(d, x, gamma, eps)
    return _layer(d, y, d_n, deviation)


@layer("gamma_of_x", "gamma's gradient is d_y * x in yours", "gamma multiplies n")
def layer_gamma_of_x(d, y, x, gamma, beta, eps=1e-5):
    d_x, _, d_beta = _layer(d, *_parts(d, x, gamma, eps))
    return d_x, _over_batch(d * x), d_beta


@layer("not_summed", "gamma's and beta's are not summed over the batch", "sum them")
def layer_not_summed(d, y, x, gamma, beta, eps=1e-5):
    n, d_n, deviation = _parts(d, x, gamma, eps)
    return _layer(d, n, d_n, deviation)[0], d * n, d


@layer("one_axis", "you sum gamma's and beta's over one axis", "flatten the batch")
def layer_one_axis(d, y, x, gamma, beta, eps=1e-5):
    n, d_n, deviation = _parts(d, x, gamma, eps)
    return _layer(d, n, d_n, deviation)[0], (d * n).sum(axis=0), d.sum(axis=0)


@layer("batch_mean", "you average gamma's and beta's over the batch", "add them up")
def layer_batch_mean(d, y, x, gamma, beta, eps=1e-5):
    d_x, d_gamma, d_beta = _layer(d, *_parts(d, x, gamma, eps))
    return d_x, d_gamma * gamma.size / x.size, d_beta * gamma.size / x.size


@layer("beta_for_gamma", "gamma's and beta's gradients are exchanged", "x, gamma, beta")
def layer_beta_for_gamma(d, y, x, gamma, beta, eps=1e-5):
    d_x, d_gamma, d_beta = _layer(d, *_parts(d, x, gamma, eps))
    return d_x, d_beta, d_gamma


@zeros_back("layer_norm_vjp", ours.layer_norm)
def layer_zeros(d, y, x, gamma, beta, eps=1e-5):
    return np.zeros(x.shape), np.zeros(gamma.shape), np.zeros(gamma.shape)


def _rms(d, x, gamma, eps, along=1.0, mean=0.0):
    r = np.sqrt(_mean(x * x) + eps)
    d_n, n = gamma * d, x / r
    d_x = d_n - mean * _mean(d_n) - along * n * _mean(d_n * n)
    return d_x / r, _over_batch(d * n)


@rms("constant", "you take the root mean square for a constant", "it depends on x")
def rms_constant(d, y, x, gamma, eps=1e-6):
    return _rms(d, x, gamma, eps, along=0.0)


@rms("layer_norm", "you subtract the mean of d_n, as LayerNorm does", "no mean here")
def rms_layer_norm(d, y, x, gamma, eps=1e-6):
    return _rms(d, x, gamma, eps, mean=1.0)


@rms("sum", "you subtract a sum where a mean belongs", "divide it by D")
def rms_sum(d, y, x, gamma, eps=1e-6):
    return _rms(d, x, gamma, eps, along=x.shape[-1])


@rms("no_gamma", "gamma is missing on the way back to x", "d_n is gamma * d_y")
def rms_no_gamma(d, y, x, gamma, eps=1e-6):
    return _rms(d, x, np.ones_like(gamma), eps)


@rms("no_eps", "your way back leaves eps out", "it stands inside the root")
def rms_no_eps(d, y, x, gamma, eps=1e-6):
    return _rms(d, x, gamma, 0.0)


@rms("gamma_of_x", "gamma's gradient is d_y * x in yours", "gamma multiplies n")
def rms_gamma_of_x(d, y, x, gamma, eps=1e-6):
    return _rms(d, x, gamma, eps)[0], _over_batch(d * x)


@rms("not_summed", "gamma's is not summed over the batch", "every vector adds to it")
def rms_not_summed(d, y, x, gamma, eps=1e-6):
    r = np.sqrt(_mean(x * x) + eps)
    return _rms(d, x, gamma, eps)[0], d * x / r


@zeros_back("rms_norm_vjp", ours.rms_norm)
def rms_zeros(d, y, x, gamma, eps=1e-6):
    return np.zeros(x.shape), np.zeros(gamma.shape)
