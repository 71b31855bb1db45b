"""What goes wrong in an optimiser."""

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.lab.mistakes.with_numpy.training import SGD, around, instead
from encoderlab.with_numpy.parameters import parameters
from encoderlab.with_numpy.training import optimizers as ours


@around("ascent")
def _(self, step, gradients, factor):
    """you add the change: the loss goes up

    look at the sign
    """
    step(gradients, -factor)


@around("factor_ignored")
def _(self, step, gradients, factor):
    """you do not use `factor`

    the learning rate of a step is lr times factor
    """
    step(gradients)


@around("factor_twice")
def _(self, step, gradients, factor):
    """you multiply by the factor twice

    the learning rate of a step is lr times factor, once
    """
    step(gradients, factor * factor)


@around("lr_twice")
def _(self, step, gradients, factor):
    """you multiply by the learning rate twice

    it stands in front of m, and nowhere else
    """
    step(gradients, self.lr * factor)


@around("no_lr")
def _(self, step, gradients, factor):
    """you leave the learning rate out

    multiply by lr times factor
    """
    step(gradients, factor / self.lr)


@around("not_in_place")
def _(self, step, gradients, factor):
    """you make new arrays: the layer keeps its old ones

    change the array itself: `theta -= ...`
    """
    self.parameters = {name: a.copy() for name, a in self.parameters.items()}
    step(gradients, factor)


@around("names_unchecked")
def _(self, step, gradients, factor):
    """you do not compare the gradients' names with the parameters'

    raise ValueError for one that is missing or unknown, before anything is changed
    """
    zeros = ours._zeros_like(self.parameters)
    step({name: gradients.get(name, zeros[name]) for name in zeros}, factor)


@around("half_changed")
def _(self, step, gradients, factor):
    """you find a gradient that does not fit when other arrays are changed already

    compare names and shapes of all of them first
    """
    try:
        step(gradients, factor)
    except ValueError:
        self.parameters["W"] -= self.lr * gradients["W"]
        raise


@instead("SGD", "momentum_ignored", "remember")
def _(self, m, g, rate):
    """you do not use the momentum

    m keeps the share mu of itself
    """
    return g


@instead("SGD", "momentum_sign", "remember")
def _(self, m, g, rate):
    """you subtract the last m instead of keeping some of it

    look at the sign of mu * m
    """
    return g - self.momentum * m


@instead("SGD", "dampened", "remember")
def _(self, m, g, rate):
    """you take the gradient times 1 - mu, as in Adam's running mean

    the new gradient counts whole: mu * m + g
    """
    return self.momentum * m + (1 - self.momentum) * g


@wrong("SGD", "rate_in_memory")
class StepsKept(SGD):
    """you keep steps already multiplied by the rate, so that an old factor stays on

    m holds gradients; lr and factor are multiplied when it is used
    """

    def remember(self, m, g, rate):
        return self.momentum * m + rate * g

    def change(self, m, g, rate):
        return m


@wrong("SGD", "gradient_changed")
class GradientKept(SGD):
    """you keep the caller's first gradient as m, and change it in the next step

    make a copy, or a new m in each step
    """

    def remember(self, m, g, rate):
        if not m.any():
            return g
        m *= self.momentum
        m += g
        return m


@instead("Adam", "not_corrected", "corrections")
def _(self, t, beta_1, beta_2):
    """you leave the corrections out: the first steps have the wrong size

    divide m by 1 - beta_1**t and v by 1 - beta_2**t
    """
    return 1.0, 1.0


@instead("Adam", "only_m_corrected", "corrections")
def _(self, t, beta_1, beta_2):
    """you correct m and not v

    both means start at 0
    """
    return 1 - beta_1**t, 1.0


@instead("Adam", "corrected_by_t_minus_1", "corrections")
def _(self, t, beta_1, beta_2):
    """you count the steps from 0: the first correction divides by 0

    t is 1 at the first step
    """
    return np.float64(1 - beta_1 ** (t - 1)), np.float64(1 - beta_2 ** (t - 1))


@instead("Adam", "t_ignored", "corrections")
def _(self, t, beta_1, beta_2):
    """you divide by 1 - beta in every step, not by 1 - beta**t

    the correction fades with t
    """
    return 1 - beta_1, 1 - beta_2


@instead("Adam", "t_per_parameter", "corrections")
def _(self, t, beta_1, beta_2):
    """you count a step for every parameter

    t grows by 1 in a step, before the loop
    """
    self.t += 1
    return 1 - beta_1**t, 1 - beta_2**t


@instead("Adam", "eps_in_root", "change")
def _(self, m, v, c_1, c_2):
    """you add eps inside the root

    eps is added to the root, after it is taken
    """
    return (m / c_1) / np.sqrt(v / c_2 + self.eps)


@instead("Adam", "eps_before_correction", "change")
def _(self, m, v, c_1, c_2):
    """you add eps to the root of v before v is corrected

    first v / (1 - beta_2**t), then the root, then eps
    """
    return (m / c_1) / ((np.sqrt(v) + self.eps) / np.sqrt(c_2))


@instead("Adam", "no_root", "change")
def _(self, m, v, c_1, c_2):
    """you divide by v, not by its root

    v is a mean of squares: only its root has the gradient's size
    """
    return (m / c_1) / (v / c_2 + self.eps)


@instead("Adam", "betas_swapped", "means")
def _(self, m, v, g, b_2, b_1):
    """you use beta_2 for m and beta_1 for v

    the first of betas is m's
    """
    return b_1 * m + (1 - b_1) * g, b_2 * v + (1 - b_2) * g * g


@instead("Adam", "sums", "means")
def _(self, m, v, g, beta_1, beta_2):
    """you add the whole gradient: m and v are sums, not means

    the new value counts 1 - beta
    """
    return beta_1 * m + g, beta_2 * v + g * g


@instead("Adam", "not_squared", "means")
def _(self, m, v, g, beta_1, beta_2):
    """you take the mean of sizes for v

    v is the mean of the squared gradients
    """
    return beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * abs(g)


@instead("AdamW", "l2", "step")
def _(self, gradients, factor=1.0):
    """you add the decay to the gradient: it goes through the means (Adam with L2)

    the weights are multiplied by 1 - lr * decay, beside Adam
    """
    ours._require_fit(gradients, self.parameters)
    pull = {name: self.decay[name] * a for name, a in self.parameters.items()}
    ours.Adam.step(self, {n: g + pull[n] for n, g in gradients.items()}, factor)


@instead("AdamW", "decay_after", "step")
def _(self, gradients, factor=1.0):
    """you let the weights decay after Adam's step

    the decay comes first, so that it takes its share of the old weights
    """
    ours.Adam.step(self, gradients, factor)
    self.let_decay(factor)


@instead("AdamW", "decay_before_errors", "step")
def _(self, gradients, factor=1.0):
    """you let the weights decay before you look at the gradients

    gradients that do not fit must leave everything unchanged
    """
    self.let_decay(factor)
    ours.Adam.step(self, gradients, factor)


@instead("AdamW", "decay_without_lr", "share")
def _(self, decay, factor):
    """you take off the decay without the learning rate

    the share of a step is lr * factor * decay
    """
    return decay


@instead("AdamW", "decay_without_factor", "share")
def _(self, decay, factor):
    """your decay does not follow the schedule

    the share of a step is lr * factor * decay
    """
    return self.lr * decay


@instead("AdamW", "no_decay", "share")
def _(self, decay, factor):
    """nothing decays

    multiply each group's weights by 1 - lr * factor * decay
    """
    return 0.0


@instead("AdamW", "all_alike", "share")
def _(self, decay, factor):
    """you decay all groups, norms and biases too, by the first one's share

    each group has its own
    """
    return self.lr * factor * next(iter(self.decay.values()))


def grouped(name):
    """Enter a rule: from a name and its array to whether it decays."""

    def build(decays):
        def sort(layer, weight_decay):
            own, groups = parameters(layer), ({}, {})
            for name, array in own.items():
                groups[0 if decays(name, array) else 1][name] = array
            return [ours.Group(groups[0], weight_decay), ours.Group(groups[1], 0.0)]

        return sort

    return wrong("decay_groups", name, build)


@grouped("everything")
def _(name, array):
    """you let everything decay, norms and biases too

    arrays with one axis get 0
    """
    return True


@grouped("reversed")
def _(name, array):
    """you let the vectors decay and not the matrices

    look at the comparison
    """
    return array.ndim <= 1


@grouped("by_bias_and_norm")
def _(name, array):
    """you look for "bias" and "norm" in the names: b_1 is called otherwise

    ask for the number of axes
    """
    return "bias" not in name and "norm" not in name


@grouped("norms_decay")
def _(name, array):
    """you spare the biases, and let the norms decay

    gamma and beta have one axis as well
    """
    return array.ndim > 1 or name.endswith(("gamma", "beta"))


@grouped("biases_decay")
def _(name, array):
    """you spare the norms, and let the biases decay

    biases have one axis as well
    """
    return not name.endswith(("gamma", "beta"))


@grouped("weights_only")
def _(name, array):
    """you let decay what is called W: tables of embeddings are left out

    ask for the number of axes
    """
    return name.rpartition(".")[2].startswith("W")


@wrong("decay_groups", "copies")
def copies(layer, weight_decay):
    """you copy the arrays: the optimiser will change arrays that no layer owns

    hand on the arrays that `parameters` gives
    """
    matrices, vectors = ours.decay_groups(layer, weight_decay)
    copied = {name: array.copy() for name, array in matrices.parameters.items()}
    return [ours.Group(copied, weight_decay), vectors]
