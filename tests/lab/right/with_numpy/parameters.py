"""Parameters counted, drawn and loaded in other ways."""

import numpy as np

from encoderlab.with_numpy.parameters import parameters


def count__by_its_own_walk(layer):
    seen = {}
    todo = [layer]
    while todo:
        part = todo.pop()
        if isinstance(part, np.ndarray):
            seen[id(part)] = part.size
        elif isinstance(part, list | tuple):
            todo += part
        elif hasattr(part, "__dict__"):
            todo += vars(part).values()
    return sum(seen.values())


def count__as_a_float_of_products(layer):
    arrays = list(parameters(layer).values())
    first = [a for i, a in enumerate(arrays) if not any(a is b for b in arrays[:i])]
    return np.sum([np.prod(array.shape) for array in first])


def xavier_uniform__scaled_from_0_to_1(fan_in, fan_out, rng):
    bound = np.sqrt(6.0) / np.sqrt(fan_in + fan_out)
    return ((2 * rng.random((fan_in, fan_out)) - 1) * bound).astype(np.float32)


def xavier_uniform__drawn_in_columns(fan_in, fan_out, rng):
    bound = (3 / ((fan_in + fan_out) / 2)) ** 0.5
    return rng.uniform(-bound, bound, (fan_out, fan_in)).T.astype("float32")


def xavier_uniform__drawn_in_float32(fan_in, fan_out, rng):
    bound = np.float32(np.sqrt(6 / (fan_in + fan_out)))
    drawn = rng.random((fan_in, fan_out), dtype=np.float32)
    return bound * (np.float32(1) - np.float32(2) * drawn)


def load__with_setattr(layer, weights, ignore=()):
    own = parameters(layer)
    wrong = sorted(set(own) ^ (set(weights) - (set(ignore) - set(own))))
    wrong += [n for n in own if n in weights and np.shape(weights[n]) != own[n].shape]
    if wrong:
        raise ValueError(f"these do not fit: {wrong}")
    for name, array in own.items():
        owner, *rest = layer, *name.split(".")
        for part in rest[:-1]:
            owner = (
                owner[int(part)] if isinstance(owner, list) else getattr(owner, part)
            )
        setattr(owner, rest[-1], np.array(weights[name]).astype(array.dtype))
    return layer


def load__with_copyto(layer, weights, ignore=()):
    own, messages = parameters(layer), []
    for name in {**own, **weights}:
        if name not in own:
            if name not in ignore:
                messages.append(f"{name} is not wanted")
        elif name not in weights:
            messages.append(f"{name} is not there")
        elif np.asarray(weights[name]).shape != own[name].shape:
            messages.append(f"{name} has another shape")
    if messages:
        raise ValueError("; ".join(messages))
    for name, array in own.items():
        np.copyto(array, weights[name], casting="same_kind")
    return layer
