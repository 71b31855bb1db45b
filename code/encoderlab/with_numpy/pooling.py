"""One vector for a whole sequence."""

import numpy as np
from jaxtyping import Bool, Float

from encoderlab.with_numpy.functional import as_float
from encoderlab.with_numpy.masks import require_bool


def mean_pool(
    x: Float[np.ndarray, "*batch T D"], mask: Bool[np.ndarray, "*batch T"]
) -> Float[np.ndarray, "*batch D"]:
    """Average the vectors of the real tokens.

    Parameters
    ----------
    x
        Token vectors.
    mask
        True for a token that counts, False for padding.

    Returns
    -------
    np.ndarray
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
    Reimers and Gurevych, 2019, section 3. Chapter 04.

    Examples
    --------
    >>> x = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
    >>> mean_pool(x, np.array([True, True, False, False]))
    array([1., 0.])
    """
    x, mask = as_float(x), require_bool(mask)
    if mask.shape != x.shape[:-1]:
        raise ValueError(
            "mask must have one value for each token, expected shape "
            f"{x.shape[:-1]}, got {mask.shape}"
        )
    # a sum of many float16 values can leave its range
    wide = np.promote_types(x.dtype, np.float32)
    total = np.where(mask[..., None], x, 0.0).sum(axis=-2, dtype=wide)
    count = mask.sum(axis=-1, keepdims=True)
    return (total / np.maximum(count, 1)).astype(x.dtype)
