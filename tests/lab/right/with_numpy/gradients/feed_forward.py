import numpy as np

from encoderlab.with_numpy.feed_forward import ACTIVATIONS
from encoderlab.with_numpy.gradients.feed_forward import ACTIVATION_VJPS


def feed_forward_vjp__by_einsum(layer, x, *, rng=None):
    hidden = np.einsum("...d,df->...f", x, layer.W_1) + layer.b_1
    factors = np.ones(hidden.shape)
    if rng is not None:
        factors = rng.binomial(1, 1 - layer.dropout, hidden.shape) / (1 - layer.dropout)
    a = ACTIVATIONS[layer.activation](hidden) * factors
    slope = ACTIVATION_VJPS[layer.activation](hidden)[1](np.ones(hidden.shape))

    def backward(d):
        d_hidden = np.einsum("...d,fd->...f", d, layer.W_2) * factors * slope
        d_x = np.einsum("...f,df->...d", d_hidden, layer.W_1)
        rows, inner, d_inner, d_rows = (
            z.reshape(-1, z.shape[-1]) for z in (x, a, d_hidden, d)
        )
        return d_x, {
            "b_2": np.einsum("nd->d", d_rows),
            "W_2": np.einsum("nf,nd->fd", inner, d_rows),
            "b_1": np.einsum("nf->f", d_inner),
            "W_1": np.einsum("nd,nf->df", rows, d_inner),
        }

    return a @ layer.W_2 + layer.b_2, backward
