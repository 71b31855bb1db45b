import copy
import itertools
import math

import numpy as np

from encoderlab.with_numpy import training
from encoderlab.with_numpy.parameters import parameters


def encoder_shapes__as_lists(B, T, D, H):
    square = [B, H, T, T]
    vectors = [B, T, D]
    return {
        "output": vectors,
        "x": vectors,
        "token_ids": [B, T],
        "scores": square,
        "weights": square,
    }


def encoder_shapes__of_arrays(B, T, D, H):
    ids = np.zeros((B, T), int)
    x = np.zeros((100, D))[ids]
    heads = x.reshape(B, T, H, D // H).swapaxes(1, 2)
    scores = heads @ heads.swapaxes(-1, -2)
    arrays = {"token_ids": ids, "x": x, "scores": scores, "weights": scores}
    return {name: a.shape for name, a in (arrays | {"output": x}).items()}


def reach__power_of_a_matrix(mask, num_layers):
    return np.linalg.matrix_power(mask + np.eye(len(mask)), num_layers) > 0


def reach__sets(mask, num_layers):
    known = [{t} for t in range(len(mask))]
    for _ in range(num_layers):
        known = [
            known[t].union(*(known[s] for s in np.flatnonzero(mask[t])))
            for t in range(len(mask))
        ]
    return np.array([[s in of_t for s in range(len(mask))] for of_t in known])


def reach__from_a_copy(mask, num_layers):
    known = np.eye(len(mask), dtype=bool)
    for _ in range(num_layers):
        before = known.copy()
        for t in range(len(mask)):
            known[t] = before[t] | before[mask[t]].any(axis=0)
    return known


def embed__one_by_one(token_ids, segment_ids, W_token, W_position, W_segment, norm):
    B, T = token_ids.shape
    if W_position.shape[0] < T:
        raise ValueError("too long")
    for ids, table in ((token_ids, W_token), (segment_ids, W_segment)):
        if ((ids < 0) | (ids >= table.shape[0])).any():
            raise ValueError("no such row")
    x = np.empty((B, T, W_token.shape[1]))
    for b in range(B):
        for t in range(T):
            x[b, t] = W_token[token_ids[b, t]] + W_segment[segment_ids[b, t]]
            x[b, t] += W_position[t]
    return norm(x)


def embed__one_hot(token_ids, segment_ids, W_token, W_position, W_segment, norm):
    places = np.arange(token_ids.shape[1]) + np.zeros_like(token_ids)
    total = 0.0
    for ids, W in (
        (token_ids, W_token),
        (segment_ids, W_segment),
        (places, W_position),
    ):
        hot = ids[..., None] == np.arange(len(W))
        if not hot.any(axis=-1).all():
            raise ValueError("no such row")
        total = total + hot @ W
    return norm(total)


def is_position_wise__alone_and_doubled(f, x):
    twice = f(np.concatenate([x, x]))
    alone = all(np.allclose(f(x[t : t + 1])[0], twice[t]) for t in range(len(x)))
    return alone and np.allclose(twice[: len(x)], twice[len(x) :])


def is_position_wise__others_replaced(f, x):
    right = f(x)
    for t in range(len(x)):
        moved = np.roll(np.where(np.arange(len(x))[:, None] == t, x, -x), 1, axis=0)
        if not np.allclose(f(moved)[(t + 1) % len(x)], right[t]):
            return False
    return np.allclose(f(x[:1]), right[:1])


def dropout_backward__where(d_y, kept, p):
    return np.where(kept, d_y / (1 - p), 0.0)


def dropout_backward__in_a_copy(d_y, kept, p):
    d_x = d_y.copy()
    d_x[~kept] = 0
    d_x /= 1 - p
    return d_x


def identity_in_evaluation__with_random_numbers(f):
    rng = np.random.default_rng(5)
    tries = []
    for p in np.linspace(0, 0.95, 20):
        x = rng.standard_normal((4, 3))
        kept = x.copy()
        y = f(x, p, rng=None)
        tries.append(np.allclose(y, kept) and (x == kept).all())
    return all(tries)


def identity_in_evaluation__by_an_assertion(f):
    x = np.linspace(-2, 3, 7, dtype=np.float32)
    try:
        for p in [0, 0.3, 0.99]:
            given = x.copy()
            np.testing.assert_array_equal(f(given, p), x)
            np.testing.assert_array_equal(given, x)
    except AssertionError:
        return False
    return True


def identity_in_evaluation__the_largest_difference(f):
    worst = 0.0
    for p in (0.0, 0.2, 0.8):
        x = np.array([5.0, -7.0, 0.5])
        got = np.array(f(x, p))
        worst = max(worst, abs(got - [5, -7, 0.5]).max(), abs(x - [5, -7, 0.5]).max())
    return worst == 0


def residual__in_steps(x, sublayer, norm, norm_first):
    h = norm(x) if norm_first else x
    y = np.add(x, sublayer(h))
    if not norm_first:
        y = norm(y)
    return y


def residual__on_a_copy(x, sublayer, norm, norm_first):
    y = x.copy()
    if norm_first:
        y += sublayer(norm(x))
        return y
    y += sublayer(x)
    return norm(y)


def residual__both_orders(x, sublayer, norm, norm_first):
    return [norm(x + sublayer(x)), sublayer(norm(x)) + x][int(norm_first)]


def parameter_count__by_shapes(config):
    D, F = config.d_model, config.d_ff
    layer = [(D, D), (D,)] * 4 + [(D, F), (F,), (F, D), (D,)] + [(D,), (D,)] * 2
    tables = [(n, D) for n in (config.vocab_size, config.max_seq_len)]
    shapes = [*layer * config.num_layers, *tables, (config.num_segments, D), (D,), (D,)]
    if config.norm_first:
        shapes += [(D,), (D,)]
    return sum(math.prod(shape) for shape in shapes)


def parameter_count__factored(config):
    D, F, N = config.d_model, config.d_ff, config.num_layers
    rows = config.vocab_size + config.max_seq_len + config.num_segments
    norms = 2 * N + 1 + config.norm_first
    return N * (4 * D * (D + 1) + F * (2 * D + 1) + D) + D * (rows + 2 * norms)


def parameter_count__as_a_float(config):
    D, F, N = float(config.d_model), config.d_ff, config.num_layers
    rows = config.vocab_size + config.max_seq_len + config.num_segments
    return (
        N * (4 * D**2 + 9 * D + 2 * D * F + F) + (rows + 2 + 2 * config.norm_first) * D
    )


def adam_step__by_differences(theta, gradient, m, v, t, lr, betas, eps):
    m = m + (1 - betas[0]) * (gradient - m)
    v = v + (1 - betas[1]) * (np.square(gradient) - v)
    root = np.sqrt(v / (1 - betas[1] ** t)) + eps
    return theta - lr / (1 - betas[0] ** t) * m / root, m, v


def adam_step__corrections_in_the_rate(theta, gradient, m, v, t, lr, betas, eps):
    (a, b), new = betas, theta.copy()
    m, v = a * m + (1 - a) * gradient, b * v + (1 - b) * gradient * gradient
    c = math.sqrt(1 - b**t)
    new -= lr * c / (1 - a**t) * m / (np.sqrt(v) + c * eps)
    return [new, m, v]


def adam_step__by_the_book(theta, gradient, m, v, t, lr, betas, eps):
    theta = theta.copy()
    adam = training.Adam({"x": theta}, lr=lr, betas=betas, eps=eps)
    adam.m["x"], adam.v["x"], adam.t = m.copy(), v.copy(), t - 1
    adam.step({"x": gradient})
    return theta, adam.m["x"], adam.v["x"]


def training_step__by_fit(model, optimizer, images, targets, factor, max_norm):
    losses = training.fit(
        lambda _: training.loss_and_gradients(model, (images,), targets),
        [None],
        optimizer,
        schedule=lambda step: factor,
        max_norm=max_norm,
        progress=False,
    )
    return losses[0]


def training_step__clips_itself(model, optimizer, images, targets, factor, max_norm):
    loss, gradients = training.loss_and_gradients(model, (images,), targets)
    norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))
    scale = min(1.0, max_norm / norm)
    gradients = {name: scale * g for name, g in gradients.items()}
    optimizer.step(gradients, factor=factor)
    return float(loss)


def training_step__on_the_side(model, optimizer, images, targets, factor, max_norm):
    twin = copy.deepcopy(model)
    loss, gradients = training.loss_and_gradients(twin, (images,), targets)
    own = {name: gradients[name] for name in parameters(model)}
    optimizer.step(training.clip_gradients(own, max_norm)[0], factor)
    return loss


def encoder_shapes__of_real_arrays(B, T, D, H):
    x = np.zeros((B, T, D), np.float32)
    q = x.reshape(B, T, H, D // H).swapaxes(1, 2)
    scores = q @ q.mT
    ids = np.zeros((B, T), int)
    arrays = {"token_ids": ids, "x": x, "scores": scores, "weights": np.exp(scores)}
    return {name: array.shape for name, array in arrays.items()} | {"output": x.shape}


def reach__by_powers(mask, num_layers):
    step = np.eye(len(mask)) + mask
    return np.linalg.matrix_power(step, num_layers) > 0


def reach__by_sets(mask, num_layers):
    known = [{t} for t in range(len(mask))]
    for _ in range(num_layers):
        known = [
            own.union(*(known[s] for s in np.flatnonzero(mask[t])))
            for t, own in enumerate(known)
        ]
    return np.array([[s in own for s in range(len(mask))] for own in known])


def reach__by_a_search_along_the_mask(mask, num_layers):
    found = np.zeros(mask.shape, bool)
    for t in range(len(mask)):
        new = {t}
        for _ in range(num_layers + 1):
            found[t, list(new)] = True
            new = {s for r in new for s in np.flatnonzero(mask[r]) if not found[t, s]}
    return found


def reach__from_the_other_side(mask, num_layers):
    if num_layers == 0:
        return np.diag(np.full(len(mask), True))
    known = reach__from_the_other_side(mask, num_layers - 1)
    learnt = (known[:, :, None] & mask[None]).any(axis=1)
    return np.logical_or(known, learnt)


def refuse(ids, table):
    if np.any(ids < 0) or np.any(ids > len(table) - 1):
        raise ValueError("ids")


def embed__by_loops(token_ids, segment_ids, W_token, W_position, W_segment, norm):
    refuse(token_ids, W_token)
    refuse(segment_ids, W_segment)
    B, T = token_ids.shape
    if W_position.shape[0] < T:
        raise ValueError("too long")
    x = np.empty((B, T, W_token.shape[1]))
    for b, t in np.ndindex(B, T):
        total = W_token[token_ids[b, t]] + W_segment[segment_ids[b, t]] + W_position[t]
        x[b, t] = norm(total)
    return x


def embed__by_one_hot_products(
    token_ids, segment_ids, W_token, W_position, W_segment, norm
):
    T = token_ids.shape[-1]
    if T not in range(len(W_position) + 1):
        raise ValueError("too long")
    for ids, table in ((token_ids, W_token), (segment_ids, W_segment)):
        if not np.isin(ids, np.arange(len(table))).all():
            raise ValueError("ids")
    x = np.eye(len(W_token))[token_ids] @ W_token
    x += np.eye(T, len(W_position)) @ W_position
    x += np.eye(len(W_segment))[segment_ids] @ W_segment
    return norm(x)


def embed__by_take(token_ids, segment_ids, W_token, W_position, W_segment, norm):
    positions = np.broadcast_to(np.arange(token_ids.shape[1]), token_ids.shape)
    indices = token_ids, positions, segment_ids
    tables = W_token, W_position, W_segment
    for ids, table in zip(indices, tables, strict=True):
        refuse(ids, table)
    return norm(sum(map(lambda w, i: np.take(w, i, axis=0), tables, indices)))


def is_position_wise__changed_and_shuffled(f, x):
    y = f(x)
    for t in range(len(x)):
        changed = x.copy()
        changed[t] = x[t] * 3 - 1
        if not np.allclose(np.delete(f(changed), t, 0), np.delete(y, t, 0)):
            return False
    return all(
        np.allclose(f(np.roll(x, shift, axis=0)), np.roll(y, shift, axis=0))
        for shift in range(1, len(x))
    )


def is_position_wise__alone_in_a_loop(f, x):
    together = f(x.copy())
    verdict = np.True_
    for token, result in zip(x, together, strict=True):
        verdict &= (abs(f(token[None])[0] - result) < 1e-7).all()
    return verdict


def is_position_wise__one_changed_and_all_shuffled(f, x):
    """What holds for the first token holds for all if places do not matter."""
    changed = np.vstack([x[:1] + 1, x[1:]])
    alike = [
        np.allclose(f(x[order]), f(x)[order])
        for order in map(list, itertools.permutations(range(len(x))))
    ]
    return np.allclose(f(changed)[1:], f(x)[1:]) and all(alike)


def is_position_wise__in_pairs(f, x):
    for t in range(len(x)):
        for s in range(len(x)):
            pair = f(x[[t, s]])
            if not np.allclose(pair, f(x)[[t, s]], rtol=1e-6, atol=1e-9):
                return False
    return True


def dropout_backward__by_where(d_y, kept, p):
    return np.where(kept, d_y / (1 - p), 0)


def dropout_backward__by_index(d_y, kept, p):
    d_x = np.zeros_like(d_y)
    d_x[kept] = d_y[kept] * (1 / (1 - p))
    return d_x


def dropout_backward__on_a_copy(d_y, kept, p):
    d_x = np.array(d_y)
    d_x[np.logical_not(kept)] = 0.0
    d_x /= 1 - p
    return d_x
