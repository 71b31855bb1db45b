"""Checks of chapter 13: the steps of a training, and the loop around them."""

import numpy as np

from encoderlab.lab.case import Case, Property, ask, give_weights
from encoderlab.lab.checks.with_numpy.heads import text_encoder
from encoderlab.schedules import warmup_linear
from encoderlab.with_numpy.heads import TokenClassifier
from encoderlab.with_numpy.training.optimizers import SGD


def clip_gradients(solution, rng):
    def asked(says, gradients, c):
        return Case(says, lambda: solution(gradients, c), tuple(gradients.values()))

    three_four = {"a": np.array([3.0]), "b": np.array([4.0])}
    yield asked("gradients of 3 and 4, at most 1", three_four, 1.0)
    gradients = {"W": rng.standard_normal((3, 4)), "b": 2 * rng.standard_normal(5)}
    yield asked("a matrix and a vector, at most 0.5", gradients, 0.5)
    yield asked("a matrix and a vector, at most 2", gradients, 2.0)
    yield asked("at most 100: they are short enough", gradients, 100.0)
    zeros = {"W": np.zeros((2, 3))}
    yield asked("all zero", zeros, 1.0)
    yield asked("an infinite one", three_four | {"c": np.array([np.inf, 1.0])}, 1.0)
    yield asked("one that is NaN", three_four | {"c": np.array([np.nan, 1.0])}, 1.0)
    for c in (0.0, -1.0):
        says = f"a longest norm of {c:g}"
        yield Case(says, lambda c=c: solution(three_four, c), raises=ValueError)


def loss_and_gradients(solution, rng):
    built = TokenClassifier(text_encoder(1), 7, rng=np.random.default_rng(0))
    model = give_weights(built, built, rng)
    ids, targets = rng.integers(19, size=(2, 5)), rng.integers(7, size=(2, 5))
    targets[0, 1], targets[1, 2] = 2, 2
    padded = np.where([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], targets, -100)
    segments = ids % 2

    def asked(says, ids, targets, *more, **options):
        call = lambda: solution(model, (ids, *more), targets, **options)  # noqa: E731
        return Case(says, call, (ids, targets))

    yield asked("one sequence of 3 tokens", ids[:1, :3], targets[:1, :3])
    mask = padded != -100
    yield asked("2 sequences, padding is -100", ids, padded)
    keywords = {"segment_ids": segments}
    yield asked("a mask as input, segments as option", ids, padded, mask, **keywords)
    yield asked("ignore_index = 2", ids, targets, ignore_index=2)
    yield asked("label smoothing of 0.3", ids, padded, label_smoothing=0.3)


def accuracy(solution, rng):
    yield ask(solution, np.eye(3), np.array([0, 1, 1]), says="2 of 3 are right")
    x = rng.standard_normal((2, 5, 7))
    t = np.where(rng.random((2, 5)) < 0.3, rng.integers(7, size=(2, 5)), x.argmax(-1))
    t[0, :2], t[1, 0] = (x.argmax(-1)[0, 0], x.argmin(-1)[0, 1]), x.argmin(-1)[1, 0]
    yield ask(solution, x, t, says="2 sequences of 5 positions, 7 classes")
    padded = np.where([[True] * 5, [True, True, False, False, False]], t, -100)
    yield ask(solution, x, padded, says="unequal padding, ignored by -100")
    keywords, some = {"ignore_index": int(t[0, 1])}, "a class that is ignored"
    yield ask(solution, x, t, says=some, keywords=keywords)
    minus, one = {"ignore_index": -1}, np.where(padded < 0, -1, padded)
    yield ask(solution, x, one, says="padding ignored by -1", keywords=minus)
    cube = np.eye(3)[[[1, 0, 2], [1, 1, 0], [2, 2, 1]]] + 0.1 * rng.random((3, 3, 3))
    right = np.array([[1, 0, 1], [0, 1, 0], [2, 2, 0]])
    yield ask(solution, cube, right, says="3 sequences of 3 positions, 3 classes")
    none = np.full((2, 5), -100)
    yield Case("no target counts", lambda: solution(x, none), raises=ValueError)


def minibatches(solution, rng):
    seed = int(rng.integers(2**31))

    def deal(*sizes, seed=seed):
        batches = solution(*sizes, rng=np.random.default_rng(seed))
        return [np.asarray(rows) for rows in batches]

    def sizes(*asked):
        return tuple(len(rows) for rows in deal(*asked))

    for case in ((5, 2, 2), (7, 3, 1), (6, 3, 2), (3, 5, 2)):
        says = "the sizes for {} samples in batches of {}, {} epochs".format(*case)
        yield Case(says, lambda case=case: sizes(*case))

    def epochs(**options):
        return np.concatenate(deal(60, 7, 3, **options)).reshape(3, 60)

    yield Case("each epoch, sorted, holds each sample", lambda: np.sort(epochs(), -1))
    chunks = [set(range(start, min(start + 7, 60))) for start in range(0, 60, 7)]
    batches = lambda: [set(rows.tolist()) for rows in deal(60, 7, 1)]  # noqa: E731
    different = lambda a, b: not np.array_equal(a, b)  # noqa: E731
    yield Property(
        "the order is not the samples' own", lambda: different(epochs()[0], range(60))
    )
    yield Property("a batch is no run of samples", lambda: batches()[0] not in chunks)
    yield Property(
        "neighbours do not stay together",
        lambda: (np.diff(epochs()[0]) == 1).sum() < 20,
    )

    def all_different():
        first, second, third = epochs()
        pairs = (first, second), (second, third), (first, third), (first, second[::-1])
        return all(different(*pair) for pair in pairs)

    yield Property("each epoch has an order of its own", all_different)
    yield Property(
        "another generator, another order",
        lambda: different(epochs(), epochs(seed=seed + 1)),
    )
    yield Property(
        "a generator of the same seed gives the same order",
        lambda: np.array_equal(epochs(), epochs()),
    )
    for numbers in ((0, 2, 1), (5, 0, 1), (5, 2, 0), (5, -1, 1)):
        says = "{} samples in batches of {}, {} epochs".format(*numbers)
        yield Case(says, lambda n=numbers: deal(*n), raises=ValueError)


def fit(solution, rng):
    start = {"W": 2 * rng.standard_normal((3, 4)), "b": 0.1 * rng.standard_normal(5)}
    aims = rng.standard_normal(6)

    def train(batches, theta=start, bad=None, lr=0.2, **options):
        """Pull all parameters towards each batch; what comes out, what is left."""
        theta = {name: array.copy() for name, array in theta.items()}

        def step(aim):
            gradients = {name: 2 * (array - aim) for name, array in theta.items()}
            loss = sum(((array - aim) ** 2).sum() for array in theta.values())
            if bad and aim == aims[2]:
                return bad(loss, gradients)
            return loss, gradients

        optimizer = SGD(theta, lr=lr, momentum=0.5 if len(theta) > 1 else 0.0)
        try:
            losses = solution(step, batches, optimizer, progress=False, **options)
        except FloatingPointError:
            return {"stopped": True, "losses": np.zeros(0), "parameters": theta}
        return {"stopped": False, "losses": losses, "parameters": theta}

    four = {"x": np.array([4.0])}
    yield Case("x = 4, three steps", lambda: train([0.0] * 3, four, lr=0.25))
    yield Case("6 batches", lambda: train(list(aims)))
    yield Case("batches that come one by one", lambda: train(iter(aims)))
    up_down = warmup_linear(2, 6)
    yield Case("a schedule", lambda: train(aims, schedule=up_down))
    yield Case("gradients of at most 0.5", lambda: train(aims, max_norm=0.5))
    yield Case("of at most 8", lambda: train(aims, max_norm=8.0))
    both = {"schedule": up_down, "max_norm": 4.0}
    yield Case("both a schedule and clipping", lambda: train(aims, **both))
    nan, inf = np.float64(np.nan), np.float64(np.inf)
    broken = {
        "the loss": lambda loss, g: (nan, g),
        "a gradient": lambda loss, g: (loss, g | {"b": g["b"] * nan}),
        "an infinite gradient": lambda loss, g: (loss, g | {"b": g["b"] * inf}),
    }
    for what, bad in broken.items():
        kind = "" if "infinite" in what else " is NaN"
        says = f"{what}{kind} at step 3: it stops before it changes the parameters"
        yield Case(says, lambda bad=bad: train(aims, bad=bad))
        clipped = f"{what}{kind} at step 3, with clipping"
        yield Case(clipped, lambda bad=bad: train(aims, bad=bad, max_norm=1.0))
