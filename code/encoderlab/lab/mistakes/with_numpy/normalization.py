"""What goes wrong in chapter 07."""

from functools import partial

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_numpy import normalization as ours


def centre(x, axis=-1):
    return x - x.mean(axis=axis, keepdims=True)


def variance(x, axis=-1, **ddof):
    return x.var(axis=axis, keepdims=True, **ddof)


def mean_square(x, axis=-1):
    return np.mean(x**2, axis=axis, keepdims=True)


def refuse(eps):
    if eps < 0:
        raise ValueError("eps must be at least 0")
    return eps


def normal(exercise):
    """Enter what normalises x; scale and shift are right, and so are the refusals."""

    def enter(normed):
        def layer_norm(x, gamma, beta, eps=1e-5):
            return gamma * normed(x, refuse(eps)) + beta

        def rms_norm(x, gamma, eps=1e-6):
            return gamma * normed(x, refuse(eps))

        norm = layer_norm if exercise == "layer_norm" else rms_norm
        norm.__name__, norm.__doc__ = normed.__name__, normed.__doc__
        wrong(exercise)(norm)
        return normed

    return enter


@normal("layer_norm")
def eps_outside(x, eps):
    """you add eps to the standard deviation, outside the root

    `np.sqrt(variance + eps)`
    """
    return centre(x) / (np.sqrt(variance(x)) + eps)


@normal("layer_norm")
def no_eps(x, eps):
    """you leave out eps: a constant vector gives NaN

    add it to the variance, inside the root
    """
    return centre(x) / np.sqrt(variance(x))


@normal("layer_norm")
def eps_fixed(x, eps):
    """you always add 1e-5, whatever `eps` is

    use the argument
    """
    return centre(x) / np.sqrt(variance(x) + 1e-5)


@normal("layer_norm")
def ddof_1(x, eps):
    """you divide the sum of squares by D - 1

    the variance here is a mean over D: `ddof=0`
    """
    return centre(x) / np.sqrt(variance(x, ddof=1) + eps)


@normal("layer_norm")
def over_tokens_and_width(x, eps):
    """you take mean and variance over all tokens of a sequence

    each token has its own: `axis=-1` alone
    """
    axes = (-2, -1)[-x.ndim :]
    return centre(x, axes) / np.sqrt(variance(x, axes) + eps)


@normal("layer_norm")
def over_tokens(x, eps):
    """you take mean and variance over the tokens, for each coordinate

    each token has its own, over its coordinates: `axis=-1`
    """
    axis = max(-2, -x.ndim)
    return centre(x, axis) / np.sqrt(variance(x, axis) + eps)


@normal("layer_norm")
def over_batch(x, eps):
    """you take mean and variance over the batch, as BatchNorm does

    each token has its own, over its coordinates: `axis=-1`
    """
    return centre(x, 0) / np.sqrt(variance(x, 0) + eps)


@normal("layer_norm")
def over_everything(x, eps):
    """you take one mean and one variance of the whole array

    each token has its own: `axis=-1, keepdims=True`
    """
    return (x - x.mean()) / np.sqrt(x.var() + eps)


@normal("layer_norm")
def no_root(x, eps):
    """you divide by the variance, not by its root

    the standard deviation is the root of the variance
    """
    return centre(x) / (variance(x) + eps)


@normal("layer_norm")
def mean_kept(x, eps):
    """you do not subtract the mean

    the numerator is `x - mean`
    """
    return x / np.sqrt(variance(x) + eps)


@normal("layer_norm")
def root_mean_square(x, eps):
    """you divide by the root mean square and keep the mean: that is RMSNorm

    subtract the mean before you square
    """
    return x / np.sqrt(mean_square(x) + eps)


@normal("layer_norm")
def square_of_uncentred(x, eps):
    """you subtract the mean above, and not under the root

    the variance is the mean of (x - mean)²
    """
    return centre(x) / np.sqrt(mean_square(x) + eps)


@normal("layer_norm")
def difference_of_squares(x, eps):
    """you take E[x²] - E[x]², which loses all digits far from 0

    subtract the mean first, then square
    """
    mean = x.mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(mean_square(x) - mean**2 + eps)


@wrong("layer_norm")
def no_gamma(x, gamma, beta, eps=1e-5):
    """you do not use gamma

    multiply the normalised vector by it
    """
    return ours.layer_norm(x, np.ones_like(gamma), beta, eps)


@wrong("layer_norm")
def no_beta(x, gamma, beta, eps=1e-5):
    """you do not use beta

    add it at the end
    """
    return ours.layer_norm(x, gamma, np.zeros_like(beta), eps)


@wrong("layer_norm")
def beta_scaled(x, gamma, beta, eps=1e-5):
    """you add beta before you multiply by gamma

    first the product with gamma, then beta
    """
    return gamma * ours.layer_norm(x, np.ones_like(gamma), beta, eps)


@normal("rms_norm")
def rms_eps_outside(x, eps):
    """you add eps outside the root

    `np.sqrt(mean_square + eps)`
    """
    return x / (np.sqrt(mean_square(x)) + eps)


@normal("rms_norm")
def rms_no_eps(x, eps):
    """you leave out eps: zeros give NaN

    add it to the mean square, inside the root
    """
    return x / np.sqrt(mean_square(x))


@normal("rms_norm")
def rms_eps_fixed(x, eps):
    """you always add 1e-6, whatever `eps` is

    use the argument
    """
    return x / np.sqrt(mean_square(x) + 1e-6)


@normal("rms_norm")
def mean_subtracted(x, eps):
    """you subtract the mean: that is LayerNorm

    RMSNorm leaves the mean where it is
    """
    return centre(x) / np.sqrt(variance(x) + eps)


@normal("rms_norm")
def by_deviation(x, eps):
    """you divide by the standard deviation

    take the mean of x², without subtracting anything
    """
    return x / np.sqrt(variance(x) + eps)


@normal("rms_norm")
def sum_of_squares(x, eps):
    """you divide by the length of the vector: a sum of squares, not their mean

    divide the sum by D
    """
    return x / np.sqrt(mean_square(x) * x.shape[-1] + eps)


@normal("rms_norm")
def rms_no_root(x, eps):
    """you divide by the mean square, not by its root

    take the root
    """
    return x / (mean_square(x) + eps)


@normal("rms_norm")
def rms_over_tokens_and_width(x, eps):
    """you take one mean square over all tokens of a sequence

    each token has its own: `axis=-1` alone
    """
    return x / np.sqrt(mean_square(x, (-2, -1)[-x.ndim :]) + eps)


@normal("rms_norm")
def rms_over_everything(x, eps):
    """you take one mean square of the whole array

    each token has its own: `axis=-1, keepdims=True`
    """
    return x / np.sqrt(np.mean(x**2) + eps)


@wrong("rms_norm")
def rms_no_gamma(x, gamma, eps=1e-6):
    """you do not use gamma

    multiply the normalised vector by it
    """
    return ours.rms_norm(x, np.ones_like(gamma), eps)


@wrong("rms_norm")
def one_plus_gamma(x, gamma, eps=1e-6):
    """you multiply by 1 + gamma

    here gamma starts at 1 and is the factor itself
    """
    return ours.rms_norm(x, 1 + gamma, eps)


def layer_with(book, call):
    told = {"__doc__": call.__doc__, "__module__": __name__, "__call__": call}
    return wrong(book.__name__)(type(call.__name__, (book,), told))


@partial(layer_with, ours.LayerNorm)
def eps_not_kept(self, x):
    """your layer does not use its eps

    hand `self.eps` on
    """
    return ours.layer_norm(x, self.gamma, self.beta)


@partial(layer_with, ours.LayerNorm)
def parameters_unused(self, x):
    """you normalise, and do not scale and shift

    hand `self.gamma` and `self.beta` on
    """
    return ours.layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]), self.eps)


@partial(layer_with, ours.LayerNorm)
def over_the_batch(self, x):
    """you normalise over the batch, as BatchNorm does

    each token by itself, over its coordinates
    """
    return self.gamma * over_batch(x, self.eps) + self.beta


@partial(layer_with, ours.LayerNorm)
def parameters_exchanged(self, x):
    """you exchange gamma and beta

    gamma is the factor, beta is added
    """
    return ours.layer_norm(x, self.beta, self.gamma, self.eps)


@wrong("LayerNorm")
class GammaStartsAtZero(ours.LayerNorm):
    """your gamma starts at 0, so that a new layer gives nothing

    ones for gamma, zeros for beta
    """

    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        self.gamma = np.zeros(d_model)


@wrong("LayerNorm")
class BetaStartsAtOne(ours.LayerNorm):
    """your beta starts at 1

    ones for gamma, zeros for beta
    """

    def __init__(self, d_model, eps=1e-5):
        super().__init__(d_model, eps)
        self.beta = np.ones(d_model)


@partial(layer_with, ours.RMSNorm)
def rms_eps_not_kept(self, x):
    """your layer does not use its eps

    hand `self.eps` on
    """
    return ours.rms_norm(x, self.gamma)


@partial(layer_with, ours.RMSNorm)
def rms_parameters_unused(self, x):
    """you normalise, and do not scale

    hand `self.gamma` on
    """
    return ours.rms_norm(x, np.ones(x.shape[-1]), self.eps)


@partial(layer_with, ours.RMSNorm)
def is_layer_norm(self, x):
    """you subtract the mean: that is LayerNorm

    call `rms_norm`
    """
    return self.gamma * mean_subtracted(x, self.eps)


@wrong("RMSNorm")
class RmsGammaStartsAtZero(ours.RMSNorm):
    """your gamma starts at 0, so that a new layer gives nothing

    gamma is ones
    """

    def __init__(self, d_model, eps=1e-6):
        super().__init__(d_model, eps)
        self.gamma = np.zeros(d_model)
