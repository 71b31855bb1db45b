"""Checks of chapter 13: how the learning rate's factor changes from step to step."""

from encoderlab.lab.case import Case


def _factors(schedule, first, last, says):
    """Ask a schedule, built by calling it, for its factor at each of some steps."""
    steps = range(first, last + 1)
    return Case(says, lambda: tuple(map(schedule(), steps)))


def _refused(build, says):
    return Case(says, build, raises=ValueError)


def warmup_linear(solution, rng):
    yield _factors(lambda: solution(2, 6), 1, 6, "steps 1 to 6, 2 of 6 warm up")
    yield _factors(lambda: solution(3, 10), 1, 10, "steps 1 to 10, 3 of 10 warm up")
    yield _factors(lambda: solution(1, 4), 1, 4, "steps 1 to 4, 1 of 4 warms up")
    yield _factors(lambda: solution(0, 5), 1, 5, "steps 1 to 5 without a warm-up")
    yield _factors(lambda: solution(3, 10), 11, 14, "after the last step")
    yield _refused(lambda: solution(-1, 5), "-1 steps of warm-up")
    yield _refused(lambda: solution(5, 5), "all of 5 steps warm up")


def warmup_cosine(solution, rng):
    yield _factors(lambda: solution(1, 5), 1, 5, "steps 1 to 5, 1 of 5 warms up")
    yield _factors(lambda: solution(3, 10), 1, 10, "steps 1 to 10, 3 of 10 warm up")
    yield _factors(lambda: solution(3, 10, 0.1), 1, 10, "the same with final = 0.1")
    yield _factors(lambda: solution(0, 5), 1, 5, "steps 1 to 5 without a warm-up")
    yield _factors(lambda: solution(3, 10), 11, 19, "after the last step")
    yield _factors(lambda: solution(3, 10, 0.2), 11, 19, "after it, final = 0.2")
    yield _factors(lambda: solution(2, 7, final=1.0), 1, 8, "final = 1")
    yield _refused(lambda: solution(-1, 5), "-1 steps of warm-up")
    yield _refused(lambda: solution(5, 5), "all of 5 steps warm up")
    yield _refused(lambda: solution(1, 5, 1.5), "final = 1.5")
    yield _refused(lambda: solution(1, 5, -0.1), "final = -0.1")


def inverse_square_root(solution, rng):
    yield _factors(lambda: solution(4, 2), 1, 8, "steps 1 to 8, D = 4, 2 warm up")
    yield _factors(lambda: solution(12, 5), 1, 11, "steps 1 to 11, D = 12, 5 warm up")
    yield _factors(lambda: solution(9, 1), 1, 4, "steps 1 to 4, D = 9, 1 warms up")
    yield _factors(lambda: solution(12, 5), 0, 0, "step 0")
    yield _refused(lambda: solution(0, 5), "a width of 0")
    yield _refused(lambda: solution(12, 0), "no step of warm-up")
