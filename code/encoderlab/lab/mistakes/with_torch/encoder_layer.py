"""What goes wrong in the wiring of a layer in PyTorch."""

from functools import partial

import torch.nn.functional as F
from torch import nn

from encoderlab.lab.mistakes import mistake
from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.lab.mistakes.wirings import WIRINGS, post_norm, pre_norm
from encoderlab.with_torch.dropout import dropout
from encoderlab.with_torch.encoder_layer import EncoderLayer

layer = partial(mistake, "EncoderLayer")


def dropped(self, x):
    """Drop values of a sublayer's output in training."""
    return dropout(x, self.dropout if self.training else 0.0)


def wired(pre=None, post=None, drop=dropped):
    """Wire the parts of a layer in another way, in one order of the norm or in both.

    What a way takes is said in :mod:`encoderlab.lab.mistakes.wirings`.
    """

    class Wired(EncoderLayer):
        def forward(self, x, mask=None, *, need_weights=False):
            weights = []

            def a(x):
                attended, w = self.attention(x, mask, need_weights=need_weights)
                weights.append(w)
                return drop(self, attended)

            def f(x):
                return drop(self, self.feed_forward(x))

            way = pre if self.norm_first else post
            if way is None:
                return super().forward(x, mask, need_weights=need_weights)
            return way(x, a, f, self.norm_1, self.norm_2), weights[0]

    return Wired


for name, says, hint, pre, post in WIRINGS:
    layer(name, says, hint)(wired(pre, post))
layer(
    "residual_detached",
    "you cut x off in the sum: the gradient's straight way back is lost",
    "x + …, without detach() and .data",
)(
    wired(
        lambda x, a, f, n1, n2: (h := x.detach() + a(n1(x))).detach() + f(n2(h)),
        lambda x, a, f, n1, n2: n2((h := n1(x.detach() + a(x))).detach() + f(h)),
    )
)
layer(
    "sublayer_detached",
    "you cut off what enters the sublayers: their inputs learn nothing from them",
    "leave out detach(), .data and no_grad()",
)(
    wired(
        lambda x, a, f, n1, n2: pre_norm(
            x, lambda z: a(z.detach()), lambda z: f(z.detach()), n1, n2
        ),
        lambda x, a, f, n1, n2: post_norm(
            x, lambda z: a(z.detach()), lambda z: f(z.detach()), n1, n2
        ),
    )
)
layer(
    "dropout_in_evaluation",
    "you drop values in evaluation too: F.dropout does so unless it is told",
    "`self.dropout if self.training else 0.0`, or training=self.training",
)(wired(pre_norm, post_norm, drop=lambda self, x: F.dropout(x, self.dropout)))
layer(
    "no_dropout_of_outputs",
    "you do not drop values of the sublayers' outputs",
    "what is added to x and to h is dropped first",
)(wired(pre_norm, post_norm, drop=lambda self, x: x))


@wrong("EncoderLayer")
class DropoutOnTheSum(EncoderLayer):
    """you drop values of the sum, and x with it

    only the sublayer's output is dropped, before the sum
    """

    def forward(self, x, mask=None, *, need_weights=False):
        if not self.norm_first:
            return super().forward(x, mask, need_weights=need_weights)
        attended, weights = self.attention(
            self.norm_1(x), mask, need_weights=need_weights
        )
        h = dropped(self, x + attended)
        return dropped(self, h + self.feed_forward(self.norm_2(h))), weights


def made(change):
    """Enter a layer that is changed after it is made."""

    def init(self, *args, **choices):
        EncoderLayer.__init__(self, *args, **choices)
        change(self, **choices)

    told = {"__doc__": change.__doc__, "__module__": __name__, "__init__": init}
    return wrong("EncoderLayer")(type(change.__name__, (EncoderLayer,), told))


@made
def shared_norm(self, **_):
    """one LayerNorm stands under two names: both sublayers share its weights

    make a new one for each
    """
    self.norm_2 = self.norm_1


@made
def eps_not_handed_on(self, **_):
    """your norms do not get `eps`

    LayerNorm(d_model, eps)
    """
    self.norm_1.eps = self.norm_2.eps = 1e-5


@made
def activation_not_handed_on(self, **_):
    """your feed-forward network does not get `activation`

    hand it on by its name
    """
    self.feed_forward.activation = "gelu"


@made
def dropout_not_handed_on(self, **_):
    """attention and feed-forward network do not get `dropout`

    weights and hidden values are dropped too: hand it on to both
    """
    self.attention.dropout = self.feed_forward.dropout = 0.0


@made
def affine_off(self, **_):
    """your norms have no weight and no bias

    nn.LayerNorm has them unless elementwise_affine=False
    """
    width = self.attention.d_model
    self.norm_1 = nn.LayerNorm(width, elementwise_affine=False)
    self.norm_2 = nn.LayerNorm(width, elementwise_affine=False)


@wrong("EncoderLayer")
class ChangesX(EncoderLayer):
    """you write x += …, which changes the caller's tensor

    x = x + … makes a new one
    """

    def forward(self, x, mask=None, *, need_weights=False):
        y, weights = super().forward(x, mask, need_weights=need_weights)
        x.data.copy_(y.data)
        return y, weights


@wrong("EncoderLayer")
class BreaksBackward(EncoderLayer):
    """you add in place: h += … changes what norm_2 needs on the way back

    h = h + … makes a new tensor
    """

    def forward(self, x, mask=None, *, need_weights=False):
        how = {"need_weights": need_weights}
        attended, weights = self.attention(
            self.norm_1(x) if self.norm_first else x, mask, **how
        )
        h = x + dropped(self, attended)
        if self.norm_first:
            h += dropped(self, self.feed_forward(self.norm_2(h)))
            return h, weights
        h = self.norm_1(h)
        h += dropped(self, self.feed_forward(h))
        return self.norm_2(h), weights


@wrong("EncoderLayer")
class MaskDropped(EncoderLayer):
    """you do not hand the mask on

    attention takes it after x
    """

    def forward(self, x, mask=None, *, need_weights=False):
        return super().forward(x, need_weights=need_weights)


@wrong("EncoderLayer")
class WeightsAlways(EncoderLayer):
    """you return the weights, though they are not asked for

    hand `need_weights` on
    """

    def forward(self, x, mask=None, *, need_weights=False):
        return super().forward(x, mask, need_weights=True)
