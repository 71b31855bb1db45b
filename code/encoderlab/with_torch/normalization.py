"""Normalisation of each token's vector: LayerNorm and its simpler sister RMSNorm."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


def layer_norm(
    x: Float[Tensor, "*batch D"],
    gamma: Float[Tensor, "D"],
    beta: Float[Tensor, "D"],
    eps: float = 1e-5,
) -> Float[Tensor, "*batch D"]:
    r"""Bring each vector to mean 0 and variance 1, then scale and shift it.

    .. math:: y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \quad
        \mu = \frac1D \sum_i x_i, \quad \sigma^2 = \frac1D \sum_i (x_i - \mu)^2

    Parameters
    ----------
    x
        Vectors along the last axis; each is normalised by itself.
    gamma, beta
        Learned scale and shift of each coordinate.
    eps
        Added to the variance, inside the root; at least 0.

    Returns
    -------
    Tensor
        The normalised vectors.

    Raises
    ------
    ValueError
        If ``gamma`` or ``beta`` does not have one value for each coordinate, or ``eps``
        is negative.

    Notes
    -----
    ``torch.nn.functional.layer_norm`` is the same in one kernel, with a backward of its
    own. Ba, Kiros and Hinton, 2016, section 3. Chapters 07 and 14.

    Examples
    --------
    >>> x = torch.tensor([1.0, 0.0, 0.0, 0.0])
    >>> layer_norm(x, torch.ones(4), torch.zeros(4))
    tensor([ 1.7320, -0.5773, -0.5773, -0.5773])
    """
    _require_vector("gamma", gamma, x)
    _require_vector("beta", beta, x)
    _require_eps(eps)
    wide = x if x.dtype == torch.float64 else x.float()  # squares leave float16
    centred = wide - wide.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)  # of all D, not of D - 1
    return gamma * (centred / torch.sqrt(variance + eps)).to(x.dtype) + beta


def rms_norm(
    x: Float[Tensor, "*batch D"], gamma: Float[Tensor, "D"], eps: float = 1e-6
) -> Float[Tensor, "*batch D"]:
    r"""Divide each vector by its root mean square, then scale its coordinates.

    .. math:: y = \gamma \frac{x}{\sqrt{\frac1D \sum_i x_i^2 + \epsilon}}

    Parameters
    ----------
    x
        Vectors along the last axis; each is normalised by itself.
    gamma
        Learned scale of each coordinate.
    eps
        Added to the mean square, inside the root; at least 0.

    Returns
    -------
    Tensor
        The normalised vectors.

    Raises
    ------
    ValueError
        If ``gamma`` does not have one value for each coordinate, or ``eps`` is
        negative.

    Notes
    -----
    Zhang and Sennrich, 2019, section 4, there without ``eps``. Chapters 07 and 14.

    Examples
    --------
    >>> rms_norm(torch.tensor([3.0, 4.0]), torch.ones(2), eps=0.0)
    tensor([0.8485, 1.1314])
    """
    _require_vector("gamma", gamma, x)
    _require_eps(eps)
    wide = x if x.dtype == torch.float64 else x.float()
    mean_square = wide.square().mean(-1, keepdim=True)
    return gamma * (wide / torch.sqrt(mean_square + eps)).to(x.dtype)


class LayerNorm(nn.Module):
    """:func:`layer_norm` with its parameters, in one kernel.

    Parameters
    ----------
    d_model
        Width D of the vectors, at least 1.
    eps
        Added to the variance; at least 0.

    Attributes
    ----------
    weight, bias : nn.Parameter
        gamma (ones) and beta (zeros), under the names of ``torch.nn.LayerNorm``.

    Raises
    ------
    ValueError
        If ``d_model`` is below 1 or ``eps`` is negative.

    Notes
    -----
    Chapters 07 and 14.

    Examples
    --------
    >>> LayerNorm(2, eps=0.0)(torch.tensor([[3.0, 5.0]])).detach()
    tensor([[-1.,  1.]])
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        _require_width(d_model)
        _require_eps(eps)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    """:func:`rms_norm` with its parameter, in one kernel.

    Parameters
    ----------
    d_model
        Width D of the vectors, at least 1.
    eps
        Added to the mean square; at least 0.

    Attributes
    ----------
    weight : nn.Parameter
        gamma (ones), under the name of ``torch.nn.RMSNorm``.

    Raises
    ------
    ValueError
        If ``d_model`` is below 1 or ``eps`` is negative.

    Notes
    -----
    Chapters 07 and 14.

    Examples
    --------
    >>> RMSNorm(2, eps=0.0)(torch.tensor([[1.0, 1.0]])).detach()
    tensor([[1., 1.]])
    """

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        _require_width(d_model)
        _require_eps(eps)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


def _require_width(d_model):
    if d_model < 1:
        raise ValueError(f"d_model must be at least 1, got {d_model}")


def _require_vector(name, value, x):
    if x.ndim == 0 or value.shape != x.shape[-1:]:
        raise ValueError(
            f"{name} must have one value for each coordinate of x, expected shape "
            f"{tuple(x.shape[-1:])}, got {tuple(value.shape)}"
        )


def _require_eps(eps):
    if not eps >= 0:
        raise ValueError(f"eps must be at least 0, got {eps}")
