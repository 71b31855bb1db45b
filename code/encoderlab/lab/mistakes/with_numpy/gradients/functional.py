"""What goes wrong in chapter 12 on the way back of the functions."""

from math import pi, sqrt

import numpy as np
from scipy.special import expit, ndtr

from encoderlab.lab.mistakes import mistake
from encoderlab.lab.mistakes.with_numpy.gradients import wrong_way_back, zeros_back
from encoderlab.with_numpy import functional as ours
from encoderlab.with_numpy.gradients import functional as right

linear = wrong_way_back("linear_vjp", ours.linear)
softmax = wrong_way_back("softmax_vjp", ours.softmax)
log_softmax = wrong_way_back("log_softmax_vjp", ours.log_softmax)
masked = wrong_way_back("masked_softmax_vjp", ours.masked_softmax)
relu = wrong_way_back("relu_vjp", ours.relu)
silu = wrong_way_back("silu_vjp", ours.silu)
gelu = wrong_way_back("gelu_vjp", ours.gelu)


def _linear(d, x, W, b):
    x = ours.as_float(x)
    return right.linear_vjp(x, W, np.zeros(W.shape[1]) if b is None else b)[1](d)


def _with(b, d_x, d_W, d_b):
    return (d_x, d_W) if b is None else (d_x, d_W, d_b)


@linear("transposed_dW", "your gradient of W is transposed", "W is I by O: x.T @ d_y")
def linear_transposed(d, y, x, W, b=None):
    d_x, d_W, d_b = _linear(d, x, W, b)
    return _with(b, d_x, d_W.T, d_b)


@linear("W_for_its_transpose", "you go back through W itself", "x's is d_y @ W.T")
def linear_not_transposed(d, y, x, W, b=None):
    _, d_W, d_b = _linear(d, x, W, b)
    return _with(b, d @ W, d_W, d_b)


@linear("db_on_the_last_axis", "you sum b's over the outputs", "sum over the vectors")
def linear_db_on_the_last_axis(d, y, x, W, b=None):
    d_x, d_W, _ = _linear(d, x, W, b)
    return _with(b, d_x, d_W, d.sum(axis=-1))


@linear("db_on_one_axis", "you sum b's over the first axis alone", "flatten the batch")
def linear_db_on_one_axis(d, y, x, W, b=None):
    d_x, d_W, _ = _linear(d, x, W, b)
    return _with(b, d_x, d_W, d.sum(axis=0))


@linear("mean", "you average W's and b's over the vectors", "every vector adds to them")
def linear_mean(d, y, x, W, b=None):
    d_x, d_W, d_b = _linear(d, x, W, b)
    n = d.size // d.shape[-1]
    return _with(b, d_x, d_W / n, d_b / n)


@linear("dW_not_summed", "you give one gradient of W a sequence", "add them up")
def linear_not_summed(d, y, x, W, b=None):
    d_x, _, d_b = _linear(d, x, W, b)
    return _with(b, d_x, x.swapaxes(-1, -2) @ d, d_b)


@softmax("times_weights", "you give p * d_p and leave the sum out", "subtract its mean")
def softmax_times_weights(d, y, x, axis=-1):
    return y * d


@softmax("as_a_sigmoid", "you give p (1 - p) d_p", "every score moves every weight")
def softmax_as_a_sigmoid(d, y, x, axis=-1):
    return y * (1 - y) * d


@softmax("plain_mean", "you subtract the plain mean of d_p", "weight the mean with p")
def softmax_plain_mean(d, y, x, axis=-1):
    return y * (d - d.mean(axis=axis, keepdims=True))


@softmax("last_axis", "your way back always sums along the last axis", "hand axis on")
def softmax_last_axis(d, y, x, axis=-1):
    return y * (d - (y * d).sum(axis=-1, keepdims=True))


@log_softmax("softmax", "you use softmax's way back", "here the sum has no weights")
def log_softmax_softmax(d, y, x, axis=-1):
    return right.softmax_vjp(x, axis)[1](d)


@log_softmax("log_for_p", "you multiply by log p, not by p", "take exp of the result")
def log_softmax_log_for_p(d, y, x, axis=-1):
    return d - y * d.sum(axis=axis, keepdims=True)


@log_softmax("no_sum", "you give d - p d, without the sum", "one score moves them all")
def log_softmax_no_sum(d, y, x, axis=-1):
    return d - np.exp(y) * d


@masked("times_weights", "you give p * d_p and leave the sum out", "subtract its mean")
def masked_times_weights(d, y, x, mask, axis=-1):
    return y * d


@masked("unmasked_back", "your way back forgets the mask", "use the masked weights")
def masked_unmasked_back(d, y, x, mask, axis=-1):
    return right.softmax_vjp(x, axis)[1](d)


@masked(
    "masked_after", "you mask the gradient of the full softmax", "renormalise first"
)
def masked_masked_after(d, y, x, mask, axis=-1):
    return mask * right.softmax_vjp(x, axis)[1](d)


@mistake(
    "masked_softmax_vjp", "nan_row", "an all-masked row gives NaN", "it gives zeros"
)
def masked_nan_row(x, mask, axis=-1):
    ours.masked_softmax(x, mask, axis)
    return right.softmax_vjp(np.where(mask, x, -np.inf), axis)


@relu("passes_at_zero", "you pass the gradient on at 0 too", "x must be above 0")
def relu_passes_at_zero(d, y, x):
    return d * (x >= 0)


@relu("sign_of_upstream", "you drop negative gradients", "the sign of x decides")
def relu_sign_of_upstream(d, y, x):
    return np.maximum(d, 0)


@relu("in_place", "you change the gradient you are given", "work on a copy of it")
def relu_in_place(d, y, x):
    d[x <= 0] = 0
    return d


@silu(
    "constant_gate", "you take the sigmoid for a constant", "x moves it: product rule"
)
def silu_constant_gate(d, y, x):
    return d * expit(x)


@silu("slope_of_y", "you take the slope at y, not at x", "keep x for the way back")
def silu_slope_of_y(d, y, x):
    return right.silu_vjp(y)[1](d)


@silu("no_x", "you leave out the x of x σ'(x)", "σ + x σ (1 - σ)")
def silu_no_x(d, y, x):
    return d * expit(x) * (2 - expit(x))


@gelu("constant_gate", "you take Φ(x) for a constant", "the product rule adds x φ(x)")
def gelu_constant_gate(d, y, x, approximate="none"):
    gate = 0.5 + 0.5 * np.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))
    return d * (ndtr(x) if approximate == "none" else gate)


@gelu("exact_for_tanh", "the approximation needs its own slope", "look at approximate")
def gelu_exact_for_tanh(d, y, x, approximate="none"):
    return right.gelu_vjp(x)[1](d)


@gelu("tanh_for_exact", "you use the approximation's slope for both", "see approximate")
def gelu_tanh_for_exact(d, y, x, approximate="none"):
    return right.gelu_vjp(x, "tanh")[1](d)


@gelu("no_inner_slope", "you leave out the slope inside tanh", "the chain rule: u'(x)")
def gelu_no_inner_slope(d, y, x, approximate="none"):
    if approximate == "none":
        return right.gelu_vjp(x)[1](d)
    t = np.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))
    return d * 0.5 * (1 + t + x * (1 - t * t))


@gelu("density_without_root", "your φ lacks the factor 1 / √(2π)", "φ(0) is 0.3989")
def gelu_density_without_root(d, y, x, approximate="none"):
    if approximate == "tanh":
        return right.gelu_vjp(x, "tanh")[1](d)
    return d * (ndtr(x) + x * np.exp(-x * x / 2))


for _exercise in ("softmax", "log_softmax", "masked_softmax", "relu", "silu", "gelu"):

    @zeros_back(f"{_exercise}_vjp", getattr(ours, _exercise))
    def zeros(d, y, x, *inputs, **options):
        return np.zeros(np.shape(x))
