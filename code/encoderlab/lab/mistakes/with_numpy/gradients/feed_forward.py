"""What goes wrong in chapter 12 on the way back of the feed-forward network."""

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy.functional import linear
from encoderlab.with_numpy.gradients import dropout_vjp, linear_vjp
from encoderlab.with_numpy.gradients import feed_forward as right


def _wrong(name, says, hint):
    return mistake("feed_forward_vjp", name, says, hint)


def _network(layer, x, rng, act=None, back=None, drop=True, pre=False):
    """The network; ``back(d, hidden, activated, through)`` is the activation's way."""
    hidden, through_1 = linear_vjp(x, layer.W_1, layer.b_1)
    activated, through = (act or right.ACTIVATION_VJPS[layer.activation])(hidden)
    kept, undrop = dropout_vjp(activated, layer.dropout, rng)
    y, through_2 = linear_vjp(kept, layer.W_2, layer.b_2)

    def backward(d_y):
        d, W_2, b_2 = through_2(d_y)
        d = undrop(d) if drop else d
        d = back(d, hidden, activated, through) if back else through(d)
        d_x, W_1, b_1 = through_1(d)
        if pre:
            W_2 = linear_vjp(hidden, layer.W_2)[1](d_y)[1]
        return d_x, {"W_1": W_1, "b_1": b_1, "W_2": W_2, "b_2": b_2}

    return y, backward


@_wrong(
    "activation_skipped", "your way back skips the activation", "multiply by its slope"
)
def feed_forward_activation_skipped(layer, x, *, rng=None):
    return _network(layer, x, rng, back=lambda d, *rest: d)


@_wrong("slope_after", "you take the slope at the activated values", "at those before")
def feed_forward_slope_after(layer, x, *, rng=None):
    act = right.ACTIVATION_VJPS[layer.activation]
    return _network(layer, x, rng, back=lambda d, h, a, through: act(a)[1](d))


@_wrong(
    "always_relu", "your way back is ReLU's for every activation", "layer.activation"
)
def feed_forward_always_relu(layer, x, *, rng=None):
    return _network(layer, x, rng, back=lambda d, h, a, through: d * (h > 0))


@_wrong("always_gelu", "you ignore layer.activation", "look it up, both ways")
def feed_forward_always_gelu(layer, x, *, rng=None):
    return _network(layer, x, rng, act=right.gelu_vjp)


@_wrong(
    "dW2_before", "W_2's gradient uses the values before the activation", "after it"
)
def feed_forward_before_the_activation(layer, x, *, rng=None):
    return _network(layer, x, rng, pre=True)


@_wrong(
    "dropout_back_forgotten", "your way back skips dropout", "use its factors again"
)
def feed_forward_dropout_back_forgotten(layer, x, *, rng=None):
    return _network(layer, x, rng, drop=False)


@_wrong("dropout_forgotten", "you ignore layer.dropout", "it drops hidden values")
def feed_forward_dropout_forgotten(layer, x, *, rng=None):
    return _network(layer, x, None)


@_wrong("transposed_dW", "the gradients of both W are transposed", "x.T @ d_y")
def feed_forward_transposed(layer, x, *, rng=None):
    def change(d_x, found):
        return d_x, found | {name: found[name].T for name in ("W_1", "W_2")}

    return _changed(layer, x, rng, change)


def _changed(layer, x, rng, change):
    y, back = right.feed_forward_vjp(layer, x, rng=rng)
    return y, lambda d: change(*back(d))


@_wrong(
    "no_biases", "the biases have no gradient in yours", "b_1 and b_2 are learnt too"
)
def feed_forward_no_biases(layer, x, *, rng=None):
    def change(d_x, found):
        return d_x, {"W_1": found["W_1"], "W_2": found["W_2"]}

    return _changed(layer, x, rng, change)


@_wrong(
    "input_of_hidden", "you return the hidden values' gradient as x's", "W_1.T comes"
)
def feed_forward_input_of_hidden(layer, x, *, rng=None):
    hidden = linear(x, layer.W_1, layer.b_1)
    through = right.ACTIVATION_VJPS[layer.activation](hidden)[1]
    y, back = right.feed_forward_vjp(layer, x, rng=rng)
    return y, lambda d: (through(d @ layer.W_2.T), back(d)[1])


@_wrong(
    "batch_mean", "you average the parameters' gradients", "every vector adds to them"
)
def feed_forward_batch_mean(layer, x, *, rng=None):
    n = x.size // x.shape[-1]

    def change(d_x, found):
        return d_x, {name: d / n for name, d in found.items()}

    return _changed(layer, x, rng, change)


@_wrong("zeros", "your way back gives zeros", "nothing would be learnt")
def feed_forward_zeros(layer, x, *, rng=None):
    def change(d_x, found):
        return 0 * d_x, {name: np.zeros(d.shape) for name, d in found.items()}

    return _changed(layer, x, rng, change)
