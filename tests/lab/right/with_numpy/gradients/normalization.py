import numpy as np

from encoderlab.with_numpy import normalization as ours


def layer_norm_vjp__by_jacobians(x, gamma, beta, eps=1e-5):
    y = ours.layer_norm(x, gamma, beta, eps)
    D = x.shape[-1]

    def backward(d):
        d_x, d_gamma, d_beta = np.zeros(x.shape), np.zeros(D), np.zeros(D)
        for place in np.ndindex(*x.shape[:-1]):
            centre = np.eye(D) - 1 / D
            c = centre @ x[place]
            s = np.sqrt(np.mean(c**2) + eps)
            jacobian = (centre - np.outer(c, c) / (D * s * s)) / s
            d_x[place] = (gamma * d[place]) @ jacobian
            d_gamma += d[place] * c / s
            d_beta += d[place]
        return d_x, d_gamma, d_beta

    return y, backward


def layer_norm_vjp__through_mean_and_variance(x, gamma, beta, eps=1e-5):
    y = ours.layer_norm(x, gamma, beta, eps)
    D = x.shape[-1]
    centred = x - x.mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(np.var(x, -1, keepdims=True) + eps)

    def backward(d):
        d_n = d * gamma
        d_inverse = (d_n * centred).sum(-1, keepdims=True)
        d_variance = d_inverse * -0.5 * inverse**3
        d_centred = d_n * inverse + d_variance * 2 * centred / D
        batch = tuple(range(d.ndim - 1))
        d_x = d_centred - d_centred.sum(-1, keepdims=True) / D
        return d_x, (d * centred * inverse).sum(batch), d.sum(batch)

    return y, backward


def layer_norm_vjp__fused(x, gamma, beta, eps=1e-5):
    y = ours.layer_norm(x, gamma, beta, eps)
    D = x.shape[-1]
    r = (x.var(-1, keepdims=True) + eps) ** -0.5
    n = (x - x.mean(-1, keepdims=True)) * r

    def backward(d):
        g = d * gamma
        total, along = g.sum(-1, keepdims=True), (g * n).sum(-1, keepdims=True)
        d_x = r / D * (D * g - total - n * along)
        rows = d.reshape(-1, D)
        return d_x, np.einsum("nd,nd->d", rows, n.reshape(-1, D)), rows.sum(axis=0)

    return y, backward


def rms_norm_vjp__by_einsum(x, gamma, eps=1e-6):
    y = ours.rms_norm(x, gamma, eps)
    r = 1 / np.sqrt(np.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1] + eps)

    def backward(d):
        g = gamma * d
        along = np.einsum("...d,...d->...", g, x)[..., None]
        d_x = r * g - r**3 * x * along / x.shape[-1]
        batch = tuple(range(d.ndim - 1))
        return d_x, np.sum(d * x * r, axis=batch)

    return y, backward
