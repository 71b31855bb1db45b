import torch
import torch.nn.functional as F


def _require(logits, targets, ignore_index, label_smoothing):
    if targets.is_floating_point():
        raise TypeError("targets")
    if targets.shape != logits.shape[:-1] or not 0 <= label_smoothing < 1:
        raise ValueError("shape or smoothing")
    counted = torch.ones_like(targets, dtype=torch.bool)
    if ignore_index is not None:
        counted = targets != ignore_index
    if ((targets < 0) | (targets >= logits.shape[-1]))[counted].any():
        raise ValueError("range")
    return counted


def cross_entropy__one_hot_and_weights(
    logits, targets, *, ignore_index=None, label_smoothing=0.0
):
    counted = _require(logits, targets, ignore_index, label_smoothing)
    V = logits.shape[-1]
    share = (1 - label_smoothing) * F.one_hot(targets.where(counted, 0), V)
    share = share + label_smoothing / V
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    each = -torch.einsum("...v,...v->...", share.to(log_p), log_p)
    return (each * counted).sum() / max(int(counted.sum()), 1)


def cross_entropy__rows_that_count(
    logits, targets, *, ignore_index=None, label_smoothing=0.0
):
    counted = _require(logits, targets, ignore_index, label_smoothing)
    if not counted.any():
        return (logits * 0).sum()
    return F.cross_entropy(
        logits[counted], targets[counted], label_smoothing=label_smoothing
    )
