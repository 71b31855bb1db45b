"""What goes wrong in chapter 10, in the wiring of a layer."""

from functools import partial

from encoderlab.lab.mistakes import mistake
from encoderlab.lab.mistakes.wirings import WIRINGS
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.encoder_layer import EncoderLayer

layer = partial(mistake, "EncoderLayer")


def wired(pre=None, post=None):
    """Wire the parts of a layer in another way, in one order of the norm or in both.

    What a way takes is said in :mod:`encoderlab.lab.mistakes.wirings`.
    """

    class Wired(EncoderLayer):
        def __call__(self, x, mask=None, *, rng=None):
            weights = []

            def a(x):
                attended, w = self.attention(x, mask, rng=rng)
                weights.append(w)
                return dropout(attended, self.dropout, rng)

            def f(x):
                return dropout(self.feed_forward(x, rng=rng), self.dropout, rng)

            way = pre if self.norm_first else post
            if way is None:
                return super().__call__(x, mask, rng=rng)
            return way(x, a, f, self.norm_1, self.norm_2), weights[0]

    return Wired


class WithoutMask(EncoderLayer):
    def __call__(self, x, mask=None, *, rng=None):
        return super().__call__(x, rng=rng)


layer("mask_ignored", "you do not use the mask", "hand it on to attention")(WithoutMask)
for name, says, hint, pre, post in WIRINGS:
    layer(name, says, hint)(wired(pre, post))


@layer(
    "changes_x",
    "you write x += …, which changes the caller's array",
    "x = x + … makes a new one",
)
class ChangesX(EncoderLayer):
    def __call__(self, x, mask=None, *, rng=None):
        x[...], weights = super().__call__(x, mask, rng=rng)
        return x, weights
