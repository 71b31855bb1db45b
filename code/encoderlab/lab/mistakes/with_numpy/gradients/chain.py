"""What goes wrong in chapter 12 with the chain rule."""

from encoderlab.lab.mistakes import mistake


def _wrong(name, says, hint):
    return mistake("chain", name, says, hint)


def _forward(steps, x):
    ways_back = []
    for step in steps:
        x, way_back = step(x)
        ways_back.append(way_back)
    return x, ways_back


def _backward(ways_back, d):
    found = {}
    for way_back in ways_back:
        d, more = way_back(d)
        found |= more
    return d, found


@_wrong("forward_order", "you go back in the order of the way forward", "from the last")
def chain_forward_order(*steps):
    def run(x):
        y, ways_back = _forward(steps, x)
        return y, lambda d: _backward(ways_back, d)

    return run


@_wrong(
    "last_step_only", "you go back through the last step alone", "through every one"
)
def chain_last_step_only(*steps):
    def run(x):
        y, ways_back = _forward(steps, x)
        return y, ways_back[-1]

    return run


@_wrong("late_binding", "every way back is the last step's", "keep each in a list")
def chain_late_binding(*steps):
    def run(x):
        lazy = []
        for step in steps:
            x, way_back = step(x)
            lazy.append(lambda d: way_back(d))  # noqa: B023  # the mistake
        return x, lambda d: _backward(lazy, d)

    return run


@_wrong("same_upstream", "every step gets the last gradient", "hand each its result on")
def chain_same_upstream(*steps):
    def run(x):
        y, ways_back = _forward(steps, x)

        def backward(d):
            found = {}
            for way_back in reversed(ways_back):
                d_x, more = way_back(d)
                found |= more
            return d_x, found

        return y, backward

    return run


@_wrong("same_input", "every step gets the first input", "hand each its result on")
def chain_same_input(*steps):
    def run(x):
        passed = [step(x) for step in steps]
        back = [way_back for _, way_back in reversed(passed)]
        return passed[-1][0], lambda d: _backward(back, d)

    return run


@_wrong("added_up", "you add up the steps' gradients", "in a chain they multiply")
def chain_added_up(*steps):
    def run(x):
        y, ways_back = _forward(steps, x)

        def backward(d):
            found = {}
            parts = [way_back(d) for way_back in ways_back]
            for _, more in parts:
                found |= more
            return sum(part for part, _ in parts), found

        return y, backward

    return run


@_wrong("names_lost", "you keep the gradients of one step alone", "join them: |=")
def chain_names_lost(*steps):
    def run(x):
        y, ways_back = _forward(steps, x)

        def backward(d):
            for way_back in reversed(ways_back):
                d, found = way_back(d)
            return d, found

        return y, backward

    return run


@_wrong("no_names", "you drop the parameters' gradients", "join them: |=")
def chain_no_names(*steps):
    def run(x):
        y, ways_back = _forward(steps, x)
        return y, lambda d: (_backward(ways_back[::-1], d)[0], {})

    return run


@_wrong(
    "reversed_steps", "you run the steps from last to first", "the first comes first"
)
def chain_reversed_steps(*steps):
    def run(x):
        y, ways_back = _forward(steps[::-1], x)
        return y, lambda d: _backward(ways_back[::-1], d)

    return run


@_wrong("one_list", "all runs share one list of ways back", "make it anew in each run")
def chain_one_list(*steps):
    ways_back = []

    def run(x):
        y, more = _forward(steps, x)
        ways_back.extend(more)
        return y, lambda d: _backward(ways_back[::-1], d)

    return run


@_wrong("zeros", "your way back gives zeros", "nothing would be learnt")
def chain_zeros(*steps):
    def run(x):
        y, ways_back = _forward(steps, x)

        def backward(d):
            d_x, found = _backward(ways_back[::-1], d)
            return 0 * d_x, {name: 0 * part for name, part in found.items()}

        return y, backward

    return run
