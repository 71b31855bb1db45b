"""What goes wrong in chapter 05: attention in several heads."""

from functools import partial
from math import sqrt

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.lab.mistakes.in_steps import Heads, answer, scores_of, weigh
from encoderlab.lab.mistakes.with_numpy.attention import scaled
from encoderlab.with_numpy.attention import attention, split_heads
from encoderlab.with_numpy.functional import linear


@wrong("split_heads")
def reshaped_alone(x, num_heads):
    """a reshape alone cuts between tokens, not within each

    reshape to (…, T, H, K) first, then swap T and H
    """
    return x.reshape(*x.shape[:-2], num_heads, x.shape[-2], -1)


@wrong("split_heads")
def not_swapped(x, num_heads):
    """you leave tokens before heads

    swap the axes T and H after the reshape
    """
    return x.reshape(*x.shape[:-1], num_heads, -1)


@wrong("split_heads")
def interleaved(x, num_heads):
    """each of your heads gets every H-th coordinate, not K in a row

    the last axis becomes (H, K) in this order
    """
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, num_heads), -1, -3)


@wrong("split_heads")
def remainder_dropped(x, num_heads):
    """you do not refuse a width that the heads cannot share

    raise ValueError if `D % num_heads` is not 0
    """
    width = x.shape[-1] // num_heads
    return split_heads(x[..., : num_heads * width], num_heads)


@wrong("merge_heads")
def merged_by_reshape(x):
    """a reshape alone puts pieces of several tokens into one vector

    swap H and T back before the reshape
    """
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


@wrong("merge_heads")
def merged_interleaved(x):
    """you interleave the heads' coordinates

    bring the axes to (…, T, H, K) before the reshape
    """
    return np.moveaxis(x, -3, -1).reshape(*x.shape[:-3], x.shape[-2], -1)


@wrong("merge_heads")
def merged_by_mean(x):
    """you average the heads, where they are to be joined

    the result has the width H K
    """
    return x.mean(axis=-3)


def layer_with(step, method):
    layer = type(method.__name__, (Heads,), {"__doc__": method.__doc__, step: method})
    return wrong("MultiHeadAttention")(layer)


@partial(layer_with, "split")
def heads_by_reshape(self, x):
    """a reshape alone cuts heads between tokens, not within each

    reshape to (B, T, H, K) first, then swap T and H
    """
    return reshaped_alone(x, self.num_heads)


@partial(layer_with, "split")
def heads_interleaved(self, x):
    """each of your heads gets every H-th column, not K in a row

    head h has the columns h K to (h + 1) K - 1
    """
    return interleaved(x, self.num_heads)


@partial(layer_with, "merge")
def heads_merged_by_reshape(self, x):
    """you join the heads without swapping heads and tokens back

    swap H and T before the reshape
    """
    return merged_by_reshape(x)


@partial(layer_with, "merge")
def heads_averaged(self, x):
    """you average the heads, where they are to be joined

    put the pieces beside each other: (B, T, H K)
    """
    return np.concatenate([x.mean(axis=-3)] * self.num_heads, axis=-1)


@partial(layer_with, "attend")
def attention_across_heads(self, q, k, v, mask, rng):
    """a token's heads attend to each other, not tokens to tokens

    heads come before tokens when attention is called
    """
    q, k, v = (a.swapaxes(-2, -3) for a in (q, k, v))
    context, weights = attention(q, k, v, mask, dropout_p=self.dropout, rng=rng)
    return context.swapaxes(-2, -3), weights


@partial(layer_with, "attend")
def root_of_d_model(self, q, k, v, mask, rng):
    """you divide by √d_model; each head has only d_head dimensions

    the root is of the width of a head, K = D / H
    """
    scores = scores_of(q / sqrt(self.num_heads), k)
    return answer(weigh(scores, mask), v, self.dropout, rng)


@partial(layer_with, "attend")
def root_of_a_fixed_width(self, q, k, v, mask, rng):
    """you divide by 2, which is right for heads of width 4 alone

    the root is of the width of a head, K = D / H
    """
    return answer(weigh(q @ k.mT / 2.0, mask), v, self.dropout, rng)


@partial(layer_with, "finish")
def no_output_projection(self, merged, x, rng):
    """you return the joined heads without mixing them by W_o

    the last step is `@ W_o + b_o`
    """
    return merged


@partial(layer_with, "finish")
def residual_inside(self, merged, x, rng):
    """you add the input to the output

    the residual belongs to the encoder layer around this one
    """
    return x + linear(merged, self.W_o, self.b_o)


@partial(layer_with, "project")
def fused_in_the_wrong_order(self, x):
    """you split a fused projection by heads first: parts of q land in k

    queries are the first D columns, then keys, then values
    """
    q, k, v = Heads.project(self, x)
    H, fused = self.num_heads, np.concatenate([q, k, v], axis=-1)
    parts = fused.reshape(*x.shape[:-1], H, 3, -1)
    return [parts[..., i, :].reshape(x.shape) for i in range(3)]


@partial(layer_with, "project")
def queries_and_keys_exchanged(self, x):
    """you make the queries with W_k and the keys with W_q

    look at the first argument of `attention`
    """
    q, k, v = Heads.project(self, x)
    return k, q, v


@partial(layer_with, "project")
def weights_transposed_in_layer(self, x):
    """you multiply by the transposed weight matrices

    here it is `x @ W + b`; torch.nn.Linear keeps the transpose
    """
    return [x @ getattr(self, f"W_{n}").T + getattr(self, f"b_{n}") for n in "qkv"]


@partial(layer_with, "project")
def biases_forgotten(self, x):
    """you do not add b_q, b_k and b_v

    each projection is `x @ W + b`
    """
    return x @ self.W_q, x @ self.W_k, x @ self.W_v


@partial(layer_with, "finish")
def output_bias_forgotten(self, merged, x, rng):
    """you do not add b_o

    the last step is `@ W_o + b_o`
    """
    return merged @ self.W_o


@partial(layer_with, "attend")
def layer_ignores_mask(self, q, k, v, mask, rng):
    """you do not hand the mask on

    `attention` takes it after the values
    """
    return attention(q, k, v, dropout_p=self.dropout, rng=rng)


@partial(layer_with, "attend")
def causal(self, q, k, v, mask, rng):
    """you hide what comes after a token; an encoder reads both ways

    use the mask that is given, and no other
    """
    earlier = np.tri(q.shape[-2], dtype=bool)
    mask = earlier if mask is None else mask & earlier
    return attention(q, k, v, mask, dropout_p=self.dropout, rng=rng)


@partial(layer_with, "attend")
def mask_tiled(self, q, k, v, mask, rng):
    """samples and heads are in another order in your mask than in your scores

    with B and H in one axis each sample's mask is repeated H times, not tiled
    """
    if mask is not None:
        full = np.broadcast_to(mask, (*q.shape[:-1], q.shape[-2]))
        mask = full.swapaxes(0, 1).reshape(full.shape)
    return attention(q, k, v, mask, dropout_p=self.dropout, rng=rng)


@partial(layer_with, "attend")
def layer_ignores_dropout(self, q, k, v, mask, rng):
    """you never drop a weight

    hand `self.dropout` and `rng` on to `attention`
    """
    return attention(q, k, v, mask)


@partial(layer_with, "attend")
def layer_drops_without_rng(self, q, k, v, mask, rng):
    """you drop weights although `rng` is None

    without a generator dropout is off
    """
    return scaled.dropout_without_rng(q, k, v, mask, self.dropout, rng)


@partial(layer_with, "attend")
def dropout_on_output(self, q, k, v, mask, rng):
    """you drop values of the result, not weights

    dropout comes between the softmax and the product with the values
    """
    return scaled.dropout_on_context(q, k, v, mask, self.dropout, rng)


@partial(layer_with, "attend")
def weights_after_dropout(self, q, k, v, mask, rng):
    """you return the weights after dropout

    return what the softmax gave; drop only for the product
    """
    return scaled.dropped_weights_returned(q, k, v, mask, self.dropout, rng)


@partial(layer_with, "project")
def values_unprojected(self, x):
    """you average the tokens themselves, without W_v

    values have a projection of their own
    """
    q, k, _ = Heads.project(self, x)
    return q, k, x


@partial(layer_with, "attend")
def weights_averaged(self, q, k, v, mask, rng):
    """you return the mean of the heads' weights

    the weights keep their axis of heads: (B, H, T, T)
    """
    context, weights = attention(q, k, v, mask, dropout_p=self.dropout, rng=rng)
    return context, weights.mean(axis=1)


@wrong("MultiHeadAttention")
class RemainderUnchecked(Heads):
    """you do not refuse a width that the heads cannot share

    raise ValueError if `d_model % num_heads` is not 0
    """

    def __init__(self, d_model, num_heads, *, dropout=0.0, rng):
        super().__init__(d_model, 1, dropout=dropout, rng=rng)
        self.num_heads = num_heads
