import numpy as np
from scipy.special import logsumexp


def _require(logits, targets, ignore_index, label_smoothing):
    logits, targets = np.asarray(logits, float), np.asarray(targets)
    if targets.dtype.kind not in "iu":
        raise TypeError("targets")
    if targets.shape != logits.shape[:-1] or not 0 <= label_smoothing < 1:
        raise ValueError("shape or smoothing")
    counted = np.full(targets.shape, True)
    if ignore_index is not None:
        counted = targets != ignore_index
    outside = (targets < 0) | (targets >= logits.shape[-1])
    if (outside & counted).any():
        raise ValueError("range")
    return logits, np.where(counted, targets, 0), counted


def cross_entropy__one_hot_and_weights(
    logits, targets, *, ignore_index=None, label_smoothing=0.0
):
    x, t, counted = _require(logits, targets, ignore_index, label_smoothing)
    share = (1 - label_smoothing) * np.eye(x.shape[-1])[t]
    share += label_smoothing / x.shape[-1]
    log_p = x - logsumexp(x, axis=-1, keepdims=True)
    each = -np.einsum("...v,...v->...", share, log_p)
    return (each * counted).sum() / max(counted.sum(), 1)


def cross_entropy__loop_over_positions(
    logits, targets, *, ignore_index=None, label_smoothing=0.0
):
    x, t, counted = _require(logits, targets, ignore_index, label_smoothing)
    losses = []
    for place in np.ndindex(t.shape):
        if counted[place]:
            row = x[place] - x[place].max()
            log_p = row - np.log(np.sum(np.exp(row)))
            right = label_smoothing * log_p.mean()
            losses.append(-(1 - label_smoothing) * log_p[t[place]] - right)
    return float(np.mean(losses)) if losses else 0.0
