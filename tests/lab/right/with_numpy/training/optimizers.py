import numpy as np

from encoderlab.with_numpy.parameters import parameters
from encoderlab.with_numpy.training import optimizers as ours


def _require(gradients, own):
    if set(gradients) != set(own):
        raise ValueError("names")
    for name in own:
        if gradients[name].shape != own[name].shape:
            raise ValueError("shape")


class SGD__keeps_the_callers_dict:
    def __init__(self, parameters, lr, momentum=0.0):
        if lr <= 0 or momentum < 0 or momentum >= 1:
            raise ValueError("range")
        self.theta, self.lr, self.mu, self.memory = parameters, lr, momentum, {}

    def step(self, gradients, factor=1.0):
        _require(gradients, self.theta)
        for name, g in gradients.items():
            last = self.memory.get(name, 0.0)
            self.memory[name] = g + self.mu * last
            self.theta[name][...] = (
                self.theta[name] - factor * self.lr * self.memory[name]
            )


class SGD__flat:
    """All parameters in one vector."""

    def __init__(self, parameters, lr, momentum=0.0):
        if not (lr > 0 and 0 <= momentum < 1):
            raise ValueError("range")
        self.parameters, self.lr, self.momentum = parameters, lr, momentum
        self.m = np.zeros(sum(a.size for a in parameters.values()))

    def step(self, gradients, factor=1.0):
        _require(gradients, self.parameters)
        g = np.concatenate([gradients[name].ravel() for name in self.parameters])
        self.m *= self.momentum
        self.m += g
        start = 0
        for a in self.parameters.values():
            a -= self.lr * factor * self.m[start : start + a.size].reshape(a.shape)
            start += a.size


class Adam__step_size_first:
    """The corrections as one number, and eps corrected with them."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        if lr <= 0 or eps <= 0 or min(betas) < 0 or max(betas) >= 1:
            raise ValueError("range")
        self.all = [(n, a, 0 * a, 0 * a) for n, a in parameters.items()]
        self.shapes = parameters
        self.lr, self.betas, self.eps, self.steps = lr, betas, eps, 0

    def step(self, gradients, factor=1.0):
        _require(gradients, self.shapes)
        self.steps += 1
        b1, b2 = self.betas
        root = np.sqrt(1 - b2**self.steps)
        for name, a, m, v in self.all:
            g = gradients[name]
            np.multiply(m, b1, out=m)
            np.add(m, (1 - b1) * g, out=m)
            v *= b2
            v += (1 - b2) * np.square(g)
            rate = factor * self.lr * root / (1 - b1**self.steps)
            np.subtract(a, rate * m / (np.sqrt(v) + self.eps * root), out=a)


class Adam__running_powers:
    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        if not lr > 0 or not eps > 0 or not all(0 <= b < 1 for b in betas):
            raise ValueError("range")
        self.parameters, self.lr, self.betas, self.eps = parameters, lr, betas, eps
        self.m = dict.fromkeys(parameters, 0.0)
        self.v = dict.fromkeys(parameters, 0.0)
        self.power_1 = self.power_2 = 1.0

    def step(self, gradients, factor=1.0):
        _require(gradients, self.parameters)
        b1, b2 = self.betas
        self.power_1 *= b1
        self.power_2 *= b2
        for n, g in gradients.items():
            self.m[n] = b1 * self.m[n] + (1 - b1) * g
            self.v[n] = b2 * self.v[n] + (1 - b2) * g**2
            m, v = self.m[n] / (1 - self.power_1), self.v[n] / (1 - self.power_2)
            self.parameters[n][:] -= self.lr * factor * m / (v**0.5 + self.eps)


class AdamW__an_adam_inside:
    def __init__(self, groups, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        names = [name for group in groups for name in group.parameters]
        if len(set(names)) < len(names) or any(g.weight_decay < 0 for g in groups):
            raise ValueError("groups")
        self.decay = {n: g.weight_decay for g in groups for n in g.parameters}
        self.arrays = {n: a for g in groups for n, a in g.parameters.items()}
        self.adam, self.lr = ours.Adam(self.arrays, lr, betas, eps), lr

    def step(self, gradients, factor=1.0):
        old = {name: array.copy() for name, array in self.arrays.items()}
        self.adam.step(gradients, factor)
        for name, array in self.arrays.items():  # of the old weights: the same
            array -= self.lr * factor * self.decay[name] * old[name]


def decay_groups__plain_tuples(layer, weight_decay):
    matrices, vectors = {}, {}
    for name, array in parameters(layer).items():
        (matrices if len(array.shape) >= 2 else vectors)[name] = array
    return [(matrices, weight_decay), (vectors, 0)]


def decay_groups__sorted_names(layer, weight_decay):
    own = sorted(parameters(layer).items(), reverse=True)
    vectors = {n: a for n, a in own if a.ndim < 2}
    matrices = {n: a for n, a in own if n not in vectors}
    return [ours.Group(matrices, weight_decay), ours.Group(vectors)]
