"""One vector for a whole sequence."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from encoderlab.with_torch.masks import require_bool


def mean_pool(
    x: Float[Tensor, "*batch T D"], mask: Bool[Tensor, "*batch T"]
) -> Float[Tensor, "*batch D"]:
    """Average the vectors of the real tokens.

    Parameters
    ----------
    x
        Token vectors.
    mask
        True for a token that counts, False for padding.

    Returns
    -------
    Tensor
        The mean over the tokens that count; zeros where none does. What stands in the
        padding has no influence, NaN included.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean.
    ValueError
        If ``mask`` does not have one value for each token.

    Notes
    -----
    Reimers and Gurevych, 2019, section 3. Chapters 04 and 14.

    Examples
    --------
    >>> x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
    >>> mean_pool(x, torch.tensor([True, True, False, False]))
    tensor([1., 0.])
    """
    require_bool(mask)
    if mask.shape != x.shape[:-1]:
        raise ValueError(
            "mask must have one value for each token, expected shape "
            f"{tuple(x.shape[:-1])}, got {tuple(mask.shape)}"
        )
    # a sum of many float16 values can leave its range
    wide = torch.promote_types(x.dtype, torch.float32)
    total = x.masked_fill(~mask[..., None], 0.0).sum(-2, dtype=wide)
    count = mask.sum(-1, keepdim=True).clamp(min=1)
    return (total / count).to(x.dtype)
