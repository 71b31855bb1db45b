"""What goes wrong with the feed-forward network in PyTorch."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import feed_forward as ours
from encoderlab.with_torch.dropout import dropout


class Steps(ours.FeedForward):
    """The module in steps: ``activate``, ``drop``, ``finish``."""

    def forward(self, x):
        """Take the steps one after the other."""
        if x.shape[-1] != self.d_model:
            raise ValueError("the width of x")
        return self.finish(self.drop(self.activate(self.linear_1(x))))

    def activate(self, hidden):
        """Bend what the first map gave."""
        return ours.ACTIVATIONS[self.activation](hidden)

    def drop(self, hidden):
        """Drop hidden values in training."""
        return dropout(hidden, self.dropout if self.training else 0.0)

    def finish(self, hidden):
        """Map back."""
        return self.linear_2(hidden)


def layer_with(step, method):
    """Enter a module with another step."""
    told = {"__doc__": method.__doc__, "__module__": __name__, step: method}
    return wrong("FeedForward")(type(method.__name__, (Steps,), told))


def made(change):
    """Enter a module that is changed after it is made."""

    def init(self, *args, **choices):
        Steps.__init__(self, *args, **choices)
        change(self)

    told = {"__doc__": change.__doc__, "__module__": __name__, "__init__": init}
    return wrong("FeedForward")(type(change.__name__, (Steps,), told))


@partial(layer_with, "activate")
def no_activation(self, hidden):
    """you leave out the activation: two linear maps in a row are one

    it stands between linear_1 and linear_2
    """
    return hidden


@partial(layer_with, "activate")
def always_gelu(self, hidden):
    """you always take GELU, whatever `activation` says

    choose by self.activation
    """
    return F.gelu(hidden)


@partial(layer_with, "activate")
def always_relu(self, hidden):
    """you always take ReLU, whatever `activation` says

    choose by self.activation
    """
    return F.relu(hidden)


@partial(layer_with, "activate")
def tanh_for_exact(self, hidden):
    """your `gelu` is the approximation by tanh

    `F.gelu(x)` is exact; approximate="tanh" belongs to `gelu_tanh`
    """
    kind = "gelu_tanh" if self.activation == "gelu" else self.activation
    return ours.ACTIVATIONS[kind](hidden)


@partial(layer_with, "activate")
def exact_for_tanh(self, hidden):
    """your `gelu_tanh` is the exact GELU

    `F.gelu(x, approximate="tanh")`
    """
    kind = "gelu" if self.activation == "gelu_tanh" else self.activation
    return ours.ACTIVATIONS[kind](hidden)


@partial(layer_with, "activate")
def activation_detached(self, hidden):
    """you cut the hidden values off: linear_1 gets no gradient

    leave out detach(), .data and no_grad()
    """
    return ours.ACTIVATIONS[self.activation](hidden.detach())


@partial(layer_with, "finish")
def activation_at_the_end(self, hidden):
    """you take the activation after linear_2 as well

    the result may be negative: nothing stands behind linear_2
    """
    return self.activate(self.linear_2(hidden))


@partial(layer_with, "drop")
def dropout_in_evaluation(self, hidden):
    """you drop values in evaluation too: F.dropout does so unless it is told

    `self.dropout if self.training else 0.0`, or training=self.training
    """
    return F.dropout(hidden, self.dropout)


@partial(layer_with, "drop")
def no_dropout(self, hidden):
    """you never drop a hidden value

    dropout comes after the activation
    """
    return hidden


@partial(layer_with, "drop")
def not_rescaled(self, hidden):
    """you drop values and do not scale the others

    divide what is kept by 1 - p
    """
    p = self.dropout if self.training else 0.0
    return hidden * (torch.rand_like(hidden) >= p)


@partial(layer_with, "drop")
def one_mask_for_all_tokens(self, hidden):
    """you drop the same places of every token

    each value of each token is dropped or not by itself
    """
    p = self.dropout if self.training else 0.0
    return hidden * (torch.rand(hidden.shape[-1]) >= p) / (1 - p)


@wrong("FeedForward")
class DropoutOnOutput(Steps):
    """you drop values of the output, not hidden ones

    dropout comes between the activation and linear_2
    """

    def forward(self, x):
        return self.drop(self.linear_2(self.activate(self.linear_1(x))))


@wrong("FeedForward")
class ResidualInside(Steps):
    """you add x to the result

    the encoder layer adds it, not the feed-forward network
    """

    def forward(self, x):
        return x + super().forward(x)


@wrong("FeedForward")
class ActivationUnchecked(ours.FeedForward):
    """you accept an activation that there is not

    raise ValueError and say which there are
    """

    def __init__(self, d_model, d_ff, *, activation="gelu", dropout=0.0):
        known = activation if activation in ours.ACTIVATIONS else "gelu"
        super().__init__(d_model, d_ff, activation=known, dropout=dropout)


@made
def constant_weights(self):
    """all your initial weights are the same number: all hidden values stay equal

    draw them at random, as nn.Linear does
    """
    nn.init.ones_(self.linear_1.weight)
    nn.init.ones_(self.linear_2.weight)


@made
def frozen(self):
    """your first map does not require a gradient, so that it never learns

    leave out requires_grad=False
    """
    self.linear_1.requires_grad_(False)


@made
def wrapped_in_sequential(self):
    """your maps stand in an nn.Sequential, under other names: no checkpoint fits

    keep them as self.linear_1 and self.linear_2
    """
    self.net = nn.Sequential(self.linear_1, nn.GELU(), self.linear_2)
    del self.linear_1, self.linear_2


@made
def without_bias(self):
    """your maps have no bias

    nn.Linear has one unless bias=False
    """
    self.linear_1 = nn.Linear(self.d_model, self.d_ff, bias=False)
    self.linear_2 = nn.Linear(self.d_ff, self.d_model, bias=False)
