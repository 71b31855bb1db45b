from functools import reduce


def chain__recursive(*steps):
    def run(x):
        if not steps:
            return x, lambda d: (d, {})
        first, *rest = steps
        x, way_back = first(x)
        y, others = chain__recursive(*rest)(x)

        def backward(d):
            d, found = others(d)
            d, more = way_back(d)
            return d, {**found, **more}

        return y, backward

    return run


def _join(one, other):
    def run(x):
        y, back_one = one(x)
        z, back_other = other(y)

        def backward(d):
            d, found = back_other(d)
            d, more = back_one(d)
            return d, more | found

        return z, backward

    return run


def chain__by_pairs(*steps):
    return reduce(_join, steps)


def chain__stack_that_is_popped(*steps):
    def run(x):
        stack = []
        for step in steps:
            x, way_back = step(x)
            stack.append(way_back)

        def backward(d):
            found = {}
            while stack:
                d, more = stack.pop()(d)
                found.update(more)
            return d, found

        return x, backward

    return run
