"""Checks of chapter 13: what an optimiser makes of the gradients."""

import numpy as np

from encoderlab.lab.case import Case, Property
from encoderlab.lab.checks.with_numpy.heads import text_encoder
from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.normalization import LayerNorm
from encoderlab.with_numpy.training.optimizers import Group

SHAPES = {"W": (3, 4), "b": (4,), "gamma": (5,)}


def _draw(rng):
    return {name: rng.standard_normal(shape) for name, shape in SHAPES.items()}


def _steps(build, start, gradients, factors, says):
    """Ask for the parameters after each step; those handed in must have changed."""

    def call():
        arrays = {name: array.copy() for name, array in start.items()}
        optimizer, path = build(dict(arrays)), []
        for step, gradient in enumerate(gradients):
            optimizer.step(gradient, *factors[step : step + 1])
            path.append({name: array.copy() for name, array in arrays.items()})
        return tuple(path)

    return Case(says, call, tuple(g for one in gradients for g in one.values()))


def _misfits(build, rng):
    """Ask for steps whose gradients do not fit; nothing may be changed then."""
    start, right = _draw(rng), _draw(rng)
    kinds = {
        "a missing gradient": {k: g for k, g in right.items() if k != "gamma"},
        "an unknown gradient": right | {"beta": right["b"]},
        "a gradient of another shape": right | {"gamma": np.ones((1, 5))},
        "a gradient that would broadcast": right | {"gamma": np.ones(1)},
    }
    for says, gradients in kinds.items():
        arrays = {name: array.copy() for name, array in start.items()}

        def step(arrays=arrays, gradients=gradients):
            build(dict(arrays)).step(gradients)

        def unchanged(arrays=arrays, step=step):
            try:
                step()
            except Exception:
                return all(np.array_equal(arrays[k], start[k]) for k in start)
            return False

        yield Case(says, step, raises=ValueError)
        yield Property(f"{says} changes nothing", unchanged)


def _refused(says, build):
    return Case(says, build, raises=ValueError)


def SGD(solution, rng):  # noqa: N802  # named as what it checks
    one, two = {"x": np.array([1.0])}, {"x": np.array([2.0])}
    yield _steps(lambda p: solution(p, lr=0.1), one, [two], (), "x = 1, gradient 2")
    start, gradients = _draw(rng), [_draw(rng) for _ in range(4)]

    def asked(says, factors=(), **options):
        return _steps(lambda p: solution(p, **options), start, gradients, factors, says)

    factors = (0.5, 1.0, 0.25, 0.7)
    yield asked("4 steps", lr=0.3)
    yield asked("4 steps, each with a factor", factors, lr=0.3)
    yield asked("momentum of 0.8", lr=0.3, momentum=0.8)
    yield asked("momentum of 0.8, factors", factors, lr=0.3, momentum=0.8)
    yield from _misfits(lambda p: solution(p, lr=0.3), rng)
    yield _refused("a learning rate of 0", lambda: solution(one, lr=0.0))
    yield _refused("a negative learning rate", lambda: solution(one, lr=-0.1))
    yield _refused("a momentum of 1", lambda: solution(one, 0.1, momentum=1.0))
    yield _refused("a negative momentum", lambda: solution(one, 0.1, momentum=-0.1))


def _adam(build, rng):
    one, two = {"x": np.array([1.0, 1.0])}, {"x": np.array([5.0, -0.001])}
    yield _steps(lambda p: build(p, lr=0.1), one, [two], (), "gradients 5 and -0.001")
    start, gradients = _draw(rng), [_draw(rng) for _ in range(4)]
    options = {"lr": 0.3, "betas": (0.8, 0.6), "eps": 0.1}

    def asked(says, factors=(), **options):
        return _steps(lambda p: build(p, **options), start, gradients, factors, says)

    factors = (0.5, 1.0, 0.25, 0.7)
    yield asked("4 steps, betas 0.8 and 0.6, tiny eps", **options | {"eps": 1e-12})
    yield asked("4 steps, eps = 0.1", **options)
    yield asked("eps = 0.1, each step with a factor", factors, **options)
    yield asked("the defaults")
    small = [{name: 1e-7 * g for name, g in _draw(rng).items()} for _ in range(2)]
    yield _steps(build, start, small, (), "the defaults, gradients of size 1e-7")
    yield _refused("a learning rate of 0", lambda: build(one, lr=0.0))
    yield _refused("an eps of 0", lambda: build(one, eps=0.0))
    yield _refused("a beta_1 of 1", lambda: build(one, betas=(1.0, 0.9)))
    yield _refused("a negative beta_2", lambda: build(one, betas=(0.9, -0.1)))
    yield from _misfits(lambda p: build(p, **options), rng)


def Adam(solution, rng):  # noqa: N802  # named as what it checks
    yield from _adam(solution, rng)


def AdamW(solution, rng):  # noqa: N802  # named as what it checks
    W, nothing = {"W": np.array([[2.0]])}, {"W": np.array([[0.0]])}
    decaying = lambda p: solution([Group(p, 0.5)], lr=0.1)  # noqa: E731
    yield _steps(decaying, W, [nothing], (), "W = 2, no gradient, decay of 0.5")
    start, gradients = _draw(rng), [_draw(rng) for _ in range(4)]

    def grouped(p, **options):
        matrices, vectors = Group({"W": p["W"]}, 0.4), Group({"b": p["b"]}, 0.1)
        return solution([matrices, vectors, Group({"gamma": p["gamma"]})], **options)

    def asked(says, factors=(), **options):
        return _steps(lambda p: grouped(p, **options), start, gradients, factors, says)

    options = {"lr": 0.3, "betas": (0.8, 0.6), "eps": 0.1}
    yield asked("three groups that decay by 0.4, 0.1 and 0", **options)
    yield asked("the same, with factors", (0.5, 1.0, 0.25, 0.7), **options)
    yield from _misfits(lambda p: grouped(p, **options), rng)
    yield from _adam(lambda p, *args, **kw: solution([Group(p)], *args, **kw), rng)
    twice = [Group(W, 0.1), Group(W, 0.0)]
    yield _refused("a name in two groups", lambda: solution(twice))
    yield _refused("a negative decay", lambda: solution([Group(W, -0.1)]))


class _Named:
    """A layer whose names tell nothing."""

    def __init__(self):
        self.bias_table, self.scale = np.ones((5, 3)), np.ones(3)
        self.W_gate, self.norm = np.zeros(4), LayerNorm(12)


def decay_groups(solution, rng):
    def sorted_names(layer, weight_decay):
        groups = solution(layer, weight_decay)
        return tuple((tuple(sorted(own)), decay) for own, decay in groups)

    def asked(says, layer, weight_decay=0.01):
        return Case(says, lambda: sorted_names(layer, weight_decay))

    layer = FeedForward(4, 8, rng=np.random.default_rng(0))
    yield asked("the groups of a feed-forward network", layer)
    yield asked("of a whole encoder of text, decay 0.3", text_encoder(), 0.3)
    yield asked("of a layer whose names tell nothing", _Named())
    yield Property(
        "the groups hold the layer's own arrays, not copies",
        lambda: any(
            array is layer.W_1
            for own, _ in solution(layer, 0.5)
            for array in own.values()
        ),
    )
