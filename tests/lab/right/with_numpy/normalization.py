"""Right solutions of chapter 07, written in other ways."""

import numpy as np


def refuse(x, vectors, eps):
    if eps < 0 or any(np.shape(v) != x.shape[-1:] for v in vectors):
        raise ValueError("eps or shape")


def layer_norm__by_var(x, gamma, beta, eps=1e-5):
    refuse(x, (gamma, beta), eps)
    std = np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)
    return (x - np.mean(x, axis=-1, keepdims=True)) / std * gamma + beta


def layer_norm__by_rsqrt_in_float64(x, gamma, beta, eps=1e-5):
    refuse(x, (gamma, beta), eps)
    wide = np.asarray(x, np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    scale = (np.square(centred).mean(-1, keepdims=True) + eps) ** -0.5
    return (centred * scale * gamma + beta).astype(x.dtype)


def layer_norm__in_float64_throughout(x, gamma, beta, eps=1e-5):
    return layer_norm__by_var(np.asarray(x, np.float64), gamma, beta, eps)


def layer_norm__loop_over_rows(x, gamma, beta, eps=1e-5):
    refuse(x, (gamma, beta), eps)
    out = np.empty_like(x)
    for place in np.ndindex(x.shape[:-1]):
        row = x[place] - sum(x[place]) / len(x[place])
        out[place] = gamma * row / np.sqrt(row @ row / len(row) + eps) + beta
    return out


def layer_norm__by_einsum(x, gamma, beta, eps=1e-5):
    refuse(x, (gamma, beta), eps)
    D = x.shape[-1]
    centred = x - (x.sum(axis=-1) / D)[..., None]
    var = np.einsum("...d,...d->...", centred, centred)[..., None] / D
    return centred * (gamma / np.sqrt(var + eps)) + beta


def rms_norm__by_linalg_norm(x, gamma, eps=1e-6):
    refuse(x, (gamma,), eps)
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return gamma * x / np.sqrt(length**2 / x.shape[-1] + eps)


def rms_norm__by_rsqrt(x, gamma, eps=1e-6):
    refuse(x, (gamma,), eps)
    return x * np.power(np.mean(x * x, -1, keepdims=True) + eps, -0.5) * gamma


def rms_norm__loop_over_rows(x, gamma, eps=1e-6):
    refuse(x, (gamma,), eps)
    rows = x.reshape(-1, x.shape[-1])
    done = [gamma * r / np.sqrt(r @ r / r.size + eps) for r in rows]
    return np.stack(done).reshape(x.shape)


class LayerNorm__float64_parameters:
    def __init__(self, d_model, eps=1e-5):
        if d_model < 1 or eps < 0:
            raise ValueError("d_model or eps")
        self.epsilon, self.beta, self.gamma = eps, np.zeros(d_model), np.ones(d_model)

    def __call__(self, x):
        return layer_norm__by_var(x, self.gamma, self.beta, self.epsilon)


class RMSNorm__by_hand:
    def __init__(self, d_model, eps=1e-6):
        if d_model < 1 or eps < 0:
            raise ValueError("d_model or eps")
        self.eps, self.gamma = eps, np.full(d_model, 1.0)

    def __call__(self, x):
        rms = np.sqrt((x**2).sum(-1) / x.shape[-1] + self.eps)
        return self.gamma * x / rms[..., None]
