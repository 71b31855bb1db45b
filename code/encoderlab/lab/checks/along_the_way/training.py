"""Checks of chapter 13: a step of Adam, a step of a training."""

from copy import deepcopy

import numpy as np

from encoderlab.config import ImageConfig
from encoderlab.lab.case import Case, ask, give_weights
from encoderlab.with_numpy.encoder import ImageEncoder
from encoderlab.with_numpy.heads import TokenClassifier
from encoderlab.with_numpy.parameters import parameters
from encoderlab.with_numpy.training import SGD, Adam


def adam_step(solution, rng):
    one, zero = np.ones(1), np.zeros(1)
    usual = 0.1, (0.9, 0.999), 1e-8
    five = np.array([5.0])
    yield ask(solution, one, five, zero, zero, 1, *usual, says="gradient 5, step 1")
    theta, gradient, m, v = rng.standard_normal((4, 3, 4)) + 0.1
    v **= 2
    arrays = theta, gradient, m, v
    for t, eps in ((1, 1e-12), (3, 1e-12), (3, 0.1), (40, 0.2)):
        says, options = f"step {t}, betas 0.8 and 0.6, eps {eps:g}", (0.3, (0.8, 0.6))
        yield ask(solution, *arrays, t, *options, eps, says=says)
    yield ask(solution, *arrays, 2, *usual, says="step 2, the usual numbers")
    deep = rng.standard_normal((4, 2, 3, 5)) ** 2
    yield ask(solution, *deep, 7, 0.7, (0.5, 0.9), 0.01, says="arrays of three axes")
    gradients = rng.standard_normal((5, 3, 4))

    def walk():
        state = theta, np.zeros((3, 4)), np.zeros((3, 4))
        for t, gradient in enumerate(gradients, start=1):
            state = solution(state[0], gradient, *state[1:], t, *usual)
        return state

    yield Case("5 steps, each from what the last returned", walk, (theta, gradients))


def training_step(solution, rng):
    config = ImageConfig(
        d_model=12, num_heads=3, d_ff=11, num_layers=1, image_size=4, patch_size=2
    )
    start = np.random.default_rng(0)
    built = TokenClassifier(ImageEncoder(config, rng=start), 7, rng=start)
    give_weights(built, built, rng)
    images, targets = rng.standard_normal((2, 1, 4, 4)), np.full((2, 5), -100)
    targets[:, 0], targets[0, 3] = (2, 6), 4

    def asked(says, *steps, of=lambda own: SGD(own, lr=0.5, momentum=0.4)):
        def call():
            model = deepcopy(built)
            optimizer = of(parameters(model))
            batch = model, optimizer, images, targets
            losses = [solution(*batch, *step) for step in steps]
            return {"loss": losses, "parameters": parameters(model)}

        return Case(says, call, (images, targets))

    yield asked("one step, gradients short enough", (1.0, 1e3))
    yield asked("one step with a factor of 0.25", (0.25, 1e3))
    yield asked("gradients of at most 0.3", (1.0, 0.3))
    two = (0.25, 0.3), (0.75, 1e3)
    yield asked("two steps with momentum, factors 0.25 and 0.75", *two)
    yield asked("the same with Adam", *two, of=lambda own: Adam(own, lr=0.1))
