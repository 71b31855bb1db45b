import math

from torch import nn


def _require(module, weight_decay):
    if not math.isfinite(weight_decay) or weight_decay < 0:
        raise ValueError("weight_decay")
    if not any(p.requires_grad for p in module.parameters()):
        raise ValueError("frozen")


def decay_groups__by_ids_from_the_end(module, weight_decay):
    _require(module, weight_decay)
    kinds = {}
    for part in module.modules():
        for name, p in part.named_parameters(recurse=False):
            linear = isinstance(part, nn.Linear) and name == "weight"
            kinds[id(p)] = kinds.get(id(p), True) and linear
    groups = [{"weight_decay": weight_decay}, {"weight_decay": 0}]
    for group, decays in zip(groups, (True, False), strict=True):
        every = reversed(list(module.parameters()))
        group["params"] = [
            p for p in every if p.requires_grad and kinds[id(p)] is decays
        ]
    return groups


def decay_groups__by_the_modules_names(module, weight_decay):
    _require(module, weight_decay)
    parts = dict(module.named_modules(remove_duplicate=False))
    tables = [m.weight for m in parts.values() if isinstance(m, nn.Embedding)]
    decaying, exempt = [], []
    for name, p in module.named_parameters():
        owner, _, last = name.rpartition(".")
        is_map = isinstance(parts[owner], nn.Linear) and last == "weight"
        if not p.requires_grad:
            continue
        is_table = any(p is table for table in tables)
        (decaying if is_map and not is_table else exempt).append(p)
    return [
        {"params": decaying, "weight_decay": weight_decay},
        {"params": exempt, "weight_decay": 0.0},
    ]
