"""Training in pieces, each of which may be wrong.

A mistake's line and its hint stand in its docstring.
"""

from collections.abc import Callable
from math import inf

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_numpy.gradients import cross_entropy_vjp, token_classifier_vjp
from encoderlab.with_numpy.training import loop as our_loop
from encoderlab.with_numpy.training import optimizers as ours


def instead(exercise: str, name: str, method: str) -> Callable:
    """Enter an optimiser of this file with one method replaced by the decorated one."""
    base = {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}[exercise]
    return wrong(exercise, name, lambda piece: type(exercise, (base,), {method: piece}))


def around(name: str) -> Callable:
    """Enter an SGD and an Adam, whose step the decorated function takes itself."""

    def enter(piece):
        def build(base):
            def step(self, gradients, factor=1.0):
                taken = lambda *args: base.step(self, *args)  # noqa: E731
                piece(self, taken, gradients, factor)

            return type(base.__name__, (base,), {"step": step})

        for base in (SGD, Adam):
            wrong(base.__name__, name, lambda _, base=base: build(base))(piece)

    return enter


class SGD(ours.SGD):
    """The book's: what is remembered, and the change made of it."""

    def remember(self, m, g, rate):
        return self.momentum * m + g

    def change(self, m, g, rate):
        return rate * m

    def step(self, gradients, factor=1.0):
        ours._require_fit(gradients, self.parameters)
        rate = self.lr * factor
        for name, theta in self.parameters.items():
            g = gradients[name]
            self.m[name] = self.remember(self.m[name], g, rate)
            theta -= self.change(self.m[name], g, rate)


class Adam(ours.Adam):
    """The book's: the means, their corrections, and the change made of them."""

    def means(self, m, v, g, beta_1, beta_2):
        return beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g

    def corrections(self, t, beta_1, beta_2):
        return 1 - beta_1**t, 1 - beta_2**t

    def change(self, m, v, c_1, c_2):
        return (m / c_1) / (np.sqrt(v / c_2) + self.eps)

    def step(self, gradients, factor=1.0):
        ours._require_fit(gradients, self.parameters)
        self.t += 1
        for name, theta in self.parameters.items():
            m, v = self.m[name], self.v[name]
            m[:], v[:] = self.means(m, v, gradients[name], *self.betas)
            corrections = self.corrections(self.t, *self.betas)
            theta -= self.lr * factor * self.change(m, v, *corrections)


class AdamW(ours.AdamW):
    """The book's: the share that a step takes off, and the rest of the step."""

    def share(self, decay, factor):
        return self.lr * factor * decay

    def let_decay(self, factor):
        for name, theta in self.parameters.items():
            theta *= 1.0 - self.share(self.decay[name], factor)

    def step(self, gradients, factor=1.0):
        ours._require_fit(gradients, self.parameters)
        self.let_decay(factor)
        ours.Adam.step(self, gradients, factor)


def clip(name: str) -> Callable:
    """Enter another way to shorten, from gradients, c and a norm that is not 0."""

    def build(shorten):
        def clip_gradients(gradients, max_norm):
            right, norm = our_loop.clip_gradients(gradients, max_norm)
            if not 0 < norm < inf:
                return right, norm
            return shorten(gradients, max_norm, norm), norm

        return clip_gradients

    return wrong("clip_gradients", name, build)


def through(model, inputs, targets, asked, rest, scale=1.0):
    """Go through a model and back, as the book does."""
    logits, through_model = token_classifier_vjp(model, *inputs, **rest)
    loss, through_loss = cross_entropy_vjp(logits, targets, **asked)
    return loss, through_model(through_loss(scale))[1]


def gradients_of(name: str) -> Callable:
    """Enter another way through: of the loss's options, and the model's."""

    def build(way):
        def loss_and_gradients(
            model, inputs, targets, *, ignore_index=-100, label_smoothing=0.0, **rest
        ):
            asked = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
            return way(model, inputs, targets, asked, rest)

        return loss_and_gradients

    return wrong("loss_and_gradients", name, build)


def counted(name: str) -> Callable:
    """Enter another share, from where the answer is right and where it counts."""

    def build(share):
        def accuracy(logits, targets, *, ignore_index=-100):
            our_loop.accuracy(logits, targets, ignore_index=ignore_index)  # the error
            return share(logits.argmax(-1) == targets, targets != ignore_index)

        return accuracy

    return wrong("accuracy", name, build)


def cut(order, size):
    """Cut an order into batches."""
    return [order[start : start + size] for start in range(0, len(order), size)]


def dealt(name: str) -> Callable:
    """Enter another way to deal, with the error of the book's."""

    def build(deal):
        def minibatches(num_samples, batch_size, epochs, *, rng):
            numbers = num_samples, batch_size, epochs
            our_loop.minibatches(*numbers, rng=np.random.default_rng(0))
            return deal(*numbers, rng)

        return minibatches

    return wrong("minibatches", name, build)


def looped(name: str) -> Callable:
    """Enter a loop: the book's, with some of its arguments changed."""

    def build(changed):
        def fit(step, batches, optimizer, *, schedule=None, max_norm=None, **rest):
            options = {"step": step, "schedule": schedule, "max_norm": max_norm}
            options |= changed(step, schedule, max_norm, optimizer)
            return our_loop.fit(batches=batches, optimizer=optimizer, **options, **rest)

        return fit

    return wrong("fit", name, build)


def watched(name: str) -> Callable:
    """Enter a loop that goes on where the function of loss and norm is true."""

    def build(healthy):
        def fit(step, batches, optimizer, *, schedule=None, max_norm=None, **_):
            losses = []
            for batch in batches:
                loss, gradients = step(batch)
                gradients, norm = our_loop.clip_gradients(gradients, max_norm or inf)
                if not healthy(loss, norm):
                    raise FloatingPointError(f"the loss is {loss}, the norm {norm}")
                losses.append(loss)
                optimizer.step(gradients, schedule(len(losses)) if schedule else 1.0)
            return np.array(losses)

        return fit

    return wrong("fit", name, build)
