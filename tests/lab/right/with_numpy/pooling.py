import numpy as np


def _checked(x, mask):
    if mask.dtype != bool:
        raise TypeError("mask must be boolean")
    if mask.shape != x.shape[:-1]:
        raise ValueError("one value for each token")


def mean_pool__loop_over_sequences(x, mask):
    _checked(x, mask)
    result = np.zeros((*x.shape[:-2], x.shape[-1]))
    for place in np.ndindex(x.shape[:-2]):
        tokens = x[place][mask[place]]
        if len(tokens):
            result[place] = tokens.mean(axis=0)
    return result


def mean_pool__by_einsum(x, mask):
    _checked(x, mask)
    weights = mask / np.maximum(mask.sum(-1, keepdims=True), 1)
    return np.einsum("...t,...td->...d", weights, np.where(mask[..., None], x, 0))


def mean_pool__weights_as_a_row(x, mask):
    _checked(x, mask)
    count = mask.sum(axis=-1, keepdims=True).clip(min=1e-9)
    clean = x.copy()
    clean[~mask] = 0
    return (mask[..., None, :].astype(x.dtype) @ clean)[..., 0, :] / count


def mean_pool__sum_where(x, mask):
    _checked(x, mask)
    total = x.sum(axis=-2, where=mask[..., None])
    count = np.count_nonzero(mask, axis=-1)[..., None]
    return np.divide(total, count, out=np.zeros_like(total), where=count > 0)


def mean_pool__nan_to_num(x, mask):
    _checked(x, mask)
    with np.errstate(invalid="ignore"):
        total = np.where(mask[..., None], x, 0).sum(-2)
        return np.nan_to_num(total / mask.sum(-1)[..., None])
