import numbers

import numpy as np


def padding_mask__loop_over_sequences(lengths, max_len):
    if not isinstance(max_len, int) or not all(
        isinstance(n, int | np.integer) for n in np.ravel(lengths).tolist()
    ):
        raise TypeError("whole numbers only")
    if np.ndim(lengths) != 1:
        raise ValueError("one axis only")
    mask = np.zeros((len(lengths), 1, 1, max_len), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        if length < 0 or length > max_len:
            raise ValueError("a length does not fit")
        row[..., :length] = True
    return mask


def padding_mask__by_comparison_the_other_way(lengths, max_len):
    lengths = np.array(lengths)
    if lengths.dtype.kind not in "iu" or not isinstance(max_len, numbers.Integral):
        raise TypeError("whole numbers only")
    if lengths.ndim > 1 or np.any(lengths > max_len) or np.any(lengths < 0):
        raise ValueError("a length does not fit")
    return ~np.greater_equal.outer(np.arange(max_len), lengths).T.reshape(
        len(lengths), 1, 1, max_len
    )


def padding_mask__rows_of_a_triangle(lengths, max_len):
    lengths = np.asarray(lengths)
    if not np.issubdtype(lengths.dtype, np.integer) or max_len != int(max_len):
        raise TypeError("whole numbers only")
    if lengths.ndim != 1 or lengths.min() < 0 or lengths.max() > max_len:
        raise ValueError("a length does not fit")
    rows = np.tri(max_len + 1, max_len, -1, dtype=bool)
    return rows[lengths].reshape(-1, 1, 1, max_len)


def _whole(T):
    if not isinstance(T, int | np.integer):
        raise TypeError("T must be whole")
    if T < 1:
        raise ValueError("T must be at least 1")


def causal_mask__by_tril(T):
    _whole(T)
    return np.tril(np.ones((1, 1, T, T), dtype=bool))


def causal_mask__by_comparison(T):
    _whole(T)
    place = np.arange(T)
    return (place <= place[:, None]).reshape(1, 1, T, T)


def causal_mask__without_the_future(T):
    _whole(T)
    return np.logical_not(np.triu(np.ones((T, T)), k=1))[np.newaxis, np.newaxis]


def causal_mask__loop_over_queries(T):
    _whole(T)
    mask = np.zeros((1, 1, T, T), dtype=bool)
    for i in range(T):
        mask[0, 0, i, : i + 1] = True
    return mask


def _types(mask, dtype):
    if np.asarray(mask).dtype != bool or np.dtype(dtype).kind != "f":
        raise TypeError("a boolean mask and a floating dtype")


def additive_mask__filled_by_index(mask, dtype):
    _types(mask, dtype)
    result = np.zeros(mask.shape, dtype=dtype)
    result[~mask] = -np.inf
    return result


def additive_mask__by_logarithm(mask, dtype):
    _types(mask, dtype)
    with np.errstate(divide="ignore"):
        return np.log(mask.astype(dtype))


def additive_mask__looked_up(mask, dtype):
    _types(mask, dtype)
    return np.array([float("-inf"), 0], dtype)[mask.astype(int)]
