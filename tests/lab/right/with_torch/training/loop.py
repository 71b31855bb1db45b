import torch


def _require(logits, targets, ignore_index):
    if tuple(targets.shape) != tuple(logits.shape[:-1]):
        raise ValueError("shapes")
    if bool((targets == ignore_index).all()):
        raise ValueError("nothing counts")


def accuracy__flat_in_float32(logits, targets, *, ignore_index=-100):
    _require(logits, targets, ignore_index)
    logits, targets = logits.reshape(-1, logits.shape[-1]), targets.flatten()
    logits, targets = logits[targets != ignore_index], targets[targets != ignore_index]
    right = logits.max(dim=1).indices.eq(targets) & ~logits.isnan().any(1)
    return right.float().mean().item()


def accuracy__one_by_one(logits, targets, *, ignore_index=-100):
    _require(logits, targets, ignore_index)
    right = counted = 0
    rows = logits.double().flatten(0, -2).tolist()
    for scores, target in zip(rows, targets.flatten().tolist(), strict=True):
        if target == ignore_index:
            continue
        counted += 1
        if 0 <= target < len(scores):
            others = scores[:target] + scores[target + 1 :]
            right += all(scores[target] > other for other in others)
    return right / counted


def accuracy__by_the_targets_score(logits, targets, *, ignore_index=-100):
    _require(logits, targets, ignore_index)
    counted = targets != ignore_index
    known = (targets >= 0) & (targets < logits.shape[-1])
    own = logits.gather(-1, targets.where(known, 0).unsqueeze(-1)).squeeze(-1)
    right = known & (own == logits.amax(-1))
    return float((right & counted).sum() / counted.sum())


def accuracy__by_counts(logits, targets, *, ignore_index=-100):
    _require(logits, targets, ignore_index)
    counted = torch.ne(targets, ignore_index)
    guesses = logits.argsort(dim=-1)[..., -1]
    guesses = guesses.masked_fill(logits.isnan().any(-1), -7)
    wrong = int(torch.count_nonzero((guesses != targets) & counted))
    return 1 - wrong / int(counted.sum())
