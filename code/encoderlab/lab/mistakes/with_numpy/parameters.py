"""What goes wrong in chapter 11 with parameters: counted, drawn and loaded."""

from functools import partial
from math import sqrt

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy.parameters import parameters

counting = partial(mistake, "count")
drawing = partial(mistake, "xavier_uniform")
loading = partial(mistake, "load")


def counted(keep=lambda name, array: True, size=np.size):
    """Count some of the arrays alone, or in another way, each once."""

    def count(layer):
        own = {id(a): a for name, a in parameters(layer).items() if keep(name, a)}
        return sum(map(size, own.values()))

    return count


counting(
    "twice",
    "you count an array that is used in two places twice",
    "remember the id of each array that is counted",
)(lambda layer: sum(array.size for array in parameters(layer).values()))
counting(
    "arrays",
    "you count the arrays; it is their values that are wanted",
    "add up array.size",
)(counted(size=lambda array: 1))
counting(
    "rows",
    "you add up lengths; len of a matrix is its number of rows",
    "add up array.size",
)(counted(size=len))
counting(
    "matrices_alone",
    "you count matrices alone; biases, gamma and beta are parameters too",
    "leave no array out",
)(counted(lambda name, array: array.ndim > 1))
counting(
    "no_sublayers",
    "you count the layer's own arrays alone, not those of its sublayers",
    "parameters(layer) walks through all of them",
)(counted(lambda name, array: "." not in name))
counting(
    "no_lists",
    "you do not look into lists of layers",
    "parameters(layer) walks through them as well",
)(counted(lambda name, array: not any(map(str.isdigit, name.split(".")))))


def drawn(bound=lambda m, n: sqrt(6 / (m + n)), low=-1.0, dtype=np.float32):
    """Draw with another bound, from another side, in another dtype."""
    return lambda m, n, rng: (bound(m, n) * rng.uniform(low, 1, (m, n))).astype(dtype)


drawing(
    "no_root",
    "you forget the root of the bound",
    "the bound is sqrt(6 / (fan_in + fan_out))",
)(drawn(lambda m, n: 6 / (m + n)))
drawing(
    "deviation_for_bound",
    "you use the standard deviation sqrt(2 / (fan_in + fan_out)) as the bound",
    "a uniform distribution in ±a has the standard deviation a / sqrt(3)",
)(drawn(lambda m, n: sqrt(2 / (m + n))))
drawing(
    "fan_in_alone",
    "you use fan_in alone, as He's initialisation does",
    "the sum of both widths stands below 6",
)(drawn(lambda m, n: sqrt(6 / m)))
drawing(
    "positive",
    "you draw from 0 to the bound; it is from -bound to bound",
    "rng.uniform(-bound, bound, …)",
)(drawn(low=0.0))
drawing(
    "float64",
    "your matrix is float64; new parameters are float32",
    "astype(np.float32)",
)(drawn(dtype=np.float64))
drawing(
    "normal",
    "you draw from a normal distribution; it is uniform",
    "rng.uniform(-bound, bound, …)",
)(lambda m, n, rng: np.float32(sqrt(2 / (m + n)) * rng.standard_normal((m, n))))
drawing(
    "transposed",
    "your matrix is (fan_out, fan_in); x @ W needs (fan_in, fan_out)",
    "the shape is (fan_in, fan_out)",
)(lambda m, n, rng: drawn()(n, m, rng))
drawing(
    "own_generator",
    "you draw from a generator of your own; every matrix is then the same",
    "use `rng`",
)(lambda m, n, rng: drawn()(m, n, np.random.default_rng(0)))


def in_place(layer, name, value):
    parameters(layer)[name][...] = value


def by_setattr(layer, name, value):
    *path, attribute = name.split(".")
    for part in path:
        layer = layer[int(part)] if part.isdigit() else getattr(layer, part)
    setattr(layer, attribute, value)


def loader(accepts=(), put=in_place, ignores=True, late=False, last=None):
    """Load with some problems accepted, written in another way, or found too late."""

    def load(layer, weights, ignore=()):
        own, known = parameters(layer), ignore if ignores else ()
        both = [name for name in own if name in weights]
        found = {
            "missing": [n for n in own if n not in weights],
            "extra": [n for n in weights if n not in own and n not in known],
            "shape": [n for n in both if np.shape(weights[n]) != own[n].shape],
        }
        names = [n for kind in found if kind not in accepts for n in found[kind]][:last]
        for name in both if late or not names else ():
            put(layer, name, weights[name])
        if names:
            raise ValueError(names)
        return layer

    return load


loading(
    "missing_accepted",
    "you leave a parameter as it is where the weights have none for it",
    "raise ValueError for a name that is missing",
)(loader(accepts=["missing"]))
loading(
    "extra_accepted",
    "you pass over weights that the layer does not have",
    "raise ValueError for a name that is neither the layer's nor in `ignore`",
)(loader(accepts=["extra"]))
loading(
    "shape_accepted",
    "you accept weights of another shape",
    "compare the shapes first; broadcasting hides the difference",
)(loader(accepts=["shape"]))
loading(
    "alias",
    "you keep the given array; who changes it later changes the layer",
    "copy the values",
)(loader(put=by_setattr))
loading(
    "dtype_of_the_weights",
    "your parameters take the dtype of the weights; each keeps its own",
    "convert to the dtype of the parameter",
)(loader(put=lambda layer, name, value: by_setattr(layer, name, np.array(value))))
loading(
    "ignore_ignored",
    "you refuse names in `ignore`",
    "an extra name that stands in `ignore` is no problem",
)(loader(ignores=False))
loading(
    "half_loaded",
    "you change the layer before all is checked",
    "collect the problems first, then write",
)(loader(late=True))
loading(
    "first_problem",
    "your message names the first problem alone",
    "collect all, then raise once",
)(loader(last=1))
