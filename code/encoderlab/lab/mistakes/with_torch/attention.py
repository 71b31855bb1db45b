"""What goes wrong with attention and its heads in PyTorch."""

from functools import partial
from math import sqrt

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import attention as ours
from encoderlab.with_torch.dropout import dropout
from encoderlab.with_torch.functional import masked_softmax, softmax


def scores_of(q, k):
    """Compare every query with every key, divided by the root of the width."""
    return q @ k.transpose(-1, -2) / sqrt(q.shape[-1])


def weigh(scores, mask=None, axis=-1):
    """Turn scores into weights, by the mask if there is one."""
    return softmax(scores, axis) if mask is None else masked_softmax(scores, mask, axis)


def answer(weights, v, dropout_p=0.0, need_weights=False):
    """Average the values, and return the weights only if they are asked for."""
    return dropout(weights, dropout_p) @ v, weights if need_weights else None


plain = wrong("attention")


@plain
def no_scale(q, k, v, mask=None, **how):
    """you do not divide the scores by √d

    divide them by the root of the width of a key
    """
    return answer(weigh(q @ k.mT, mask), v, **how)


@plain
def divided_by_d(q, k, v, mask=None, **how):
    """you divide the scores by d, not by its root

    a sum of d products grows as √d, not as d
    """
    return answer(weigh(q @ k.mT / q.shape[-1], mask), v, **how)


@plain
def root_of_keys(q, k, v, mask=None, **how):
    """you divide by the root of the number of keys, not of their width

    `shape[-1]` is the width, `shape[-2]` the number of keys
    """
    return answer(weigh(q @ k.mT / sqrt(k.shape[-2]), mask), v, **how)


@plain
def scale_of_a_fixed_width(q, k, v, mask=None, **how):
    """you divide by 2, which is right for queries of width 4 alone

    take the width from the tensor: `q.shape[-1]`
    """
    return answer(weigh(q @ k.mT / 2.0, mask), v, **how)


@plain
def softmax_over_queries(q, k, v, mask=None, **how):
    """your weights sum to 1 over the queries, not over the keys

    take the softmax along the last axis of the scores
    """
    return answer(weigh(scores_of(q, k), mask, axis=-2), v, **how)


@plain
def no_softmax(q, k, v, mask=None, **how):
    """you use the scores themselves as weights, without a softmax

    weights are positive and sum to 1 for each query
    """
    scores = scores_of(q, k)
    return answer(scores if mask is None else scores * mask, v, **how)


@plain
def weights_transposed(q, k, v, mask=None, **how):
    """you multiply the values by the transposed weights

    row t of the weights belongs to query t: `weights @ v`
    """
    return answer(weigh(scores_of(q, k), mask).mT, v, **how)


@plain
def keys_for_values(q, k, v, mask=None, **how):
    """you average the keys, where the values are asked for

    the last product is with `v`
    """
    return answer(weigh(scores_of(q, k), mask), k, **how)


@plain
def mask_inverted(q, k, v, mask=None, **how):
    """you hide what the mask allows, and allow what it hides

    True means "may attend", for F.scaled_dot_product_attention too
    """
    return answer(weigh(scores_of(q, k), None if mask is None else ~mask), v, **how)


@plain
def mask_as_numbers(q, k, v, mask=None, **how):
    """you make floats of the mask: they are added to the scores, 1 where it is True

    leave it boolean, or fill with minus infinity where it is False
    """
    mask = 0 if mask is None else mask.to(q.dtype)
    return answer(softmax(scores_of(q, k) + mask), v, **how)


@plain
def mask_multiplied(q, k, v, mask=None, **how):
    """you multiply the mask into the scores: a score of 0 still gets weight

    exp(0) is 1; a hidden score must be minus infinity
    """
    return answer(softmax(scores_of(q, k) * (1 if mask is None else mask)), v, **how)


@plain
def mask_ignored(q, k, v, mask=None, **how):
    """you do not use the mask

    hidden scores must get weight 0
    """
    return answer(weigh(scores_of(q, k)), v, **how)


@plain
def mask_on_queries(q, k, v, mask=None, **how):
    """you apply the mask to the rows, which are queries

    the last axis of mask and scores belongs to the keys
    """
    if mask is not None:
        mask = mask.broadcast_to(*q.shape[:-1], k.shape[-2])
        mask = mask.mT if q.shape[-2] == k.shape[-2] else mask[..., :1] | (mask < 0)
    return answer(weigh(scores_of(q, k), mask), v, **how)


@plain
def not_renormalised(q, k, v, mask=None, **how):
    """you zero hidden weights after the softmax: the others no longer sum to 1

    mask the scores, before the softmax
    """
    weights = softmax(scores_of(q, k))
    return answer(weights if mask is None else weights * mask, v, **how)


@plain
def causal(q, k, v, mask=None, **how):
    """you hide what comes after a token, with is_causal=True or a mask of your own

    an encoder reads both ways: use the mask that is given, and no other
    """
    earlier = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    mask = earlier if mask is None else mask & earlier
    return answer(weigh(scores_of(q, k), mask), v, **how)


@plain
def nan_if_nothing_allowed(q, k, v, mask=None, **how):
    """a query that may attend to nothing gets NaN

    -inf minus -inf is NaN: fill such rows with 0 before the softmax
    """
    scores = scores_of(q, k)
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return answer(softmax(scores), v, **how)


@plain
def nan_mended_afterwards(q, k, v, mask=None, **how):
    """you replace NaN after the softmax: the weights are right, their gradient is NaN

    nothing that is NaN may be computed at all: fill such rows with 0 before the softmax
    """
    scores = scores_of(q, k)
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return answer(softmax(scores).nan_to_num(), v, **how)


@plain
def uniform_if_nothing_allowed(q, k, v, mask=None, **how):
    """a query that may attend to nothing averages all that is hidden

    equal scores of -1e9 give equal weights: set such rows to 0
    """
    scores = scores_of(q, k)
    scores = scores if mask is None else scores.masked_fill(~mask, -1e9)
    return answer(softmax(scores), v, **how)


@plain
def sentinel_small(q, k, v, mask=None, **how):
    """you fill hidden scores with -1e4, and other scores may be lower

    minus infinity is lower than every score
    """
    scores = scores_of(q, k)
    if mask is None:
        return answer(softmax(scores), v, **how)
    weights = softmax(scores.masked_fill(~mask, -1e4))
    return answer(weights * mask.any(-1, keepdim=True), v, **how)


@plain
def weights_detached(q, k, v, mask=None, **how):
    """you detach the weights: queries and keys get no gradient

    detach nothing; to look at the weights, detach what you look at
    """
    return answer(weigh(scores_of(q, k), mask).detach(), v, **how)


@plain
def weights_always(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you return the weights, though they are not asked for

    None unless need_weights: else all (T, S) of them stay in memory
    """
    return ours.attention(q, k, v, mask, dropout_p=dropout_p, need_weights=True)


@plain
def weights_never(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you never return the weights

    F.scaled_dot_product_attention has none to give: compute them yourself where
    need_weights asks for them
    """
    return ours.attention(q, k, v, mask, dropout_p=dropout_p)


@plain
def context_alone(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you return the context alone where no weights are asked for

    there are always two results, the second of them None
    """
    context, weights = ours.attention(
        q, k, v, mask, dropout_p=dropout_p, need_weights=need_weights
    )
    return (context, weights) if need_weights else context


@plain
def weights_averaged(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you average the weights over the heads, as nn.MultiheadAttention does

    each head has its own
    """
    context, weights = ours.attention(
        q, k, v, mask, dropout_p=dropout_p, need_weights=need_weights
    )
    return context, weights.mean(-3) if need_weights and q.ndim == 4 else weights


@plain
def dropout_ignored(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you never drop a weight

    hand `dropout_p` on
    """
    return ours.attention(q, k, v, mask, need_weights=need_weights)


@plain
def dropout_with_weights_only(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you drop weights only where they are returned

    hand `dropout_p` to F.scaled_dot_product_attention as well
    """
    p = dropout_p if need_weights else 0.0
    return ours.attention(q, k, v, mask, dropout_p=p, need_weights=need_weights)


@plain
def dropout_on_context(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you drop values of the result, not weights

    dropout comes between the softmax and the product with `v`
    """
    context, weights = ours.attention(q, k, v, mask, need_weights=need_weights)
    return dropout(context, dropout_p), weights


@plain
def dropped_weights_returned(q, k, v, mask=None, *, dropout_p=0.0, need_weights=False):
    """you return the weights after dropout

    return what the softmax gave; drop only for the product
    """
    weights = dropout(weigh(scores_of(q, k), mask), dropout_p)
    return weights @ v, weights if need_weights else None


@wrong("split_heads")
def reshaped_alone(x, num_heads):
    """a reshape alone cuts between tokens, not within each

    unflatten to (…, T, H, K) first, then swap T and H
    """
    ours.split_heads(x, num_heads)  # the error
    return x.reshape(*x.shape[:-2], num_heads, x.shape[-2], -1)


@wrong("split_heads")
def not_swapped(x, num_heads):
    """you leave tokens before heads

    swap the axes T and H: transpose(-2, -3)
    """
    return ours.split_heads(x, num_heads).transpose(-2, -3)


@wrong("split_heads")
def interleaved(x, num_heads):
    """each of your heads gets every H-th coordinate, not K in a row

    the last axis becomes (H, K) in this order
    """
    ours.split_heads(x, num_heads)
    return x.unflatten(-1, (-1, num_heads)).movedim(-1, -3)


@wrong("split_heads")
def split_detached(x, num_heads):
    """your result is cut off from x: no gradient comes back

    leave out detach(), .data and no_grad()
    """
    return ours.split_heads(x, num_heads).detach()


@wrong("split_heads")
def remainder_dropped(x, num_heads):
    """you do not refuse a width that the heads cannot share

    raise ValueError if `D % num_heads` is not 0
    """
    width = x.shape[-1] // num_heads
    return ours.split_heads(x[..., : num_heads * width], num_heads)


@wrong("merge_heads")
def merged_by_reshape(x):
    """a reshape alone puts pieces of several tokens into one vector

    swap H and T back before you flatten
    """
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


@wrong("merge_heads")
def merged_interleaved(x):
    """you interleave the heads' coordinates

    bring the axes to (…, T, H, K) before you flatten
    """
    return x.movedim(-3, -1).flatten(-2)


@wrong("merge_heads")
def merged_by_mean(x):
    """you average the heads, where they are to be joined

    the result has the width H K
    """
    return x.mean(-3)


@wrong("merge_heads")
def merge_detached(x):
    """your result is cut off from x: no gradient comes back

    leave out detach(), .data and no_grad()
    """
    return ours.merge_heads(x).detach()


class Heads(ours.MultiHeadAttention):
    """The module in steps: `project`, `split`, `attend`, `merge`, `finish`."""

    def forward(self, x, mask=None, *, need_weights=False):
        """Take the steps one after the other."""
        if mask is not None:
            ours.require_score_axes(mask, x)
        q, k, v = map(self.split, self.project(x))
        context, weights = self.attend(q, k, v, mask, need_weights)
        return self.finish(self.merge(context), x), weights

    def project(self, x):
        """Make queries, keys and values."""
        return self.q_proj(x), self.k_proj(x), self.v_proj(x)

    def split(self, x):
        """Cut vectors into heads."""
        return ours.split_heads(x, self.num_heads)

    @property
    def p(self):
        """The probability of dropping a weight now."""
        return self.dropout if self.training else 0.0

    def attend(self, q, k, v, mask, need_weights):
        """Attend in every head."""
        how = {"dropout_p": self.p, "need_weights": need_weights}
        return ours.attention(q, k, v, mask, **how)

    def merge(self, x):
        """Join the heads."""
        return ours.merge_heads(x)

    def finish(self, merged, x):
        """Mix what the heads found."""
        return self.out_proj(merged)


def layer_with(step, method):
    """Enter a module with another step."""
    told = {"__doc__": method.__doc__, "__module__": __name__, step: method}
    return wrong("MultiHeadAttention")(type(method.__name__, (Heads,), told))


@partial(layer_with, "split")
def heads_by_reshape(self, x):
    """a reshape alone cuts heads between tokens, not within each

    unflatten to (B, T, H, K) first, then swap T and H
    """
    return reshaped_alone(x, self.num_heads)


@partial(layer_with, "split")
def heads_interleaved(self, x):
    """each of your heads gets every H-th coordinate, not K in a row

    head h has the rows h K to (h + 1) K - 1 of the weights
    """
    return interleaved(x, self.num_heads)


@partial(layer_with, "merge")
def heads_merged_by_reshape(self, x):
    """you join the heads without swapping heads and tokens back

    `view` and `reshape` alone mix tokens: transpose first
    """
    return merged_by_reshape(x)


@partial(layer_with, "attend")
def attention_across_heads(self, q, k, v, mask, need_weights):
    """a token's heads attend to each other, not tokens to tokens

    heads come before tokens when attention is called
    """
    q, k, v = (a.transpose(-2, -3) for a in (q, k, v))
    context, weights = ours.attention(q, k, v, need_weights=need_weights)
    return context.transpose(-2, -3), weights


@partial(layer_with, "attend")
def sequences_attend_to_each_other(self, q, k, v, mask, need_weights):
    """your tokens attend to the same place of other sequences

    (B, T, D) is what comes in, not (T, B, D): `batch_first=True` says so to torch.nn
    """
    q, k, v = (a.transpose(0, 2) for a in (q, k, v))
    context, weights = ours.attention(q, k, v, need_weights=need_weights)
    return context.transpose(0, 2), weights


@partial(layer_with, "attend")
def root_of_d_model(self, q, k, v, mask, need_weights):
    """you divide by √d_model; each head has only d_head dimensions

    the root is of the width of a head, K = D / H
    """
    scores = scores_of(q / sqrt(self.num_heads), k)
    return answer(weigh(scores, mask), v, self.p, need_weights)


@partial(layer_with, "attend")
def root_of_a_fixed_width(self, q, k, v, mask, need_weights):
    """you divide by 2, which is right for heads of width 4 alone

    the root is of the width of a head, K = D / H
    """
    return answer(weigh(q @ k.mT / 2.0, mask), v, self.p, need_weights)


@partial(layer_with, "attend")
def mask_dropped(self, q, k, v, mask, need_weights):
    """you do not hand the mask on

    `attention` takes it after the values
    """
    how = {"dropout_p": self.p, "need_weights": need_weights}
    return ours.attention(q, k, v, **how)


@partial(layer_with, "attend")
def layer_mask_inverted(self, q, k, v, mask, need_weights):
    """you invert the mask: that is nn.MultiheadAttention's, where True hides

    here True means "may attend"
    """
    mask = None if mask is None else ~mask
    how = {"dropout_p": self.p, "need_weights": need_weights}
    return ours.attention(q, k, v, mask, **how)


@partial(layer_with, "attend")
def mask_tiled(self, q, k, v, mask, need_weights):
    """samples and heads are in another order in your mask than in your scores

    with B and H in one axis each sample's mask is repeated H times: repeat_interleave,
    not repeat
    """
    if mask is not None:
        full = mask.broadcast_to(*q.shape[:-1], q.shape[-2])
        mask = full.transpose(0, 1).reshape(full.shape)
    how = {"dropout_p": self.p, "need_weights": need_weights}
    return ours.attention(q, k, v, mask, **how)


@partial(layer_with, "attend")
def dropout_in_evaluation(self, q, k, v, mask, need_weights):
    """you drop weights in evaluation too: a function knows nothing of eval()

    hand on `self.dropout if self.training else 0.0`
    """
    how = {"dropout_p": self.dropout, "need_weights": need_weights}
    return ours.attention(q, k, v, mask, **how)


@partial(layer_with, "attend")
def dropout_in_evaluation_only(self, q, k, v, mask, need_weights):
    """you drop weights in evaluation and none in training

    `self.training` is True after train()
    """
    p = 0.0 if self.training else self.dropout
    return ours.attention(q, k, v, mask, dropout_p=p, need_weights=need_weights)


@partial(layer_with, "attend")
def layer_ignores_dropout(self, q, k, v, mask, need_weights):
    """you never drop a weight

    hand `self.dropout if self.training else 0.0` on to `attention`
    """
    return ours.attention(q, k, v, mask, need_weights=need_weights)


@partial(layer_with, "finish")
def dropout_on_output(self, merged, x):
    """you drop values of the output as well

    here only weights are dropped; the encoder layer drops the output
    """
    return dropout(self.out_proj(merged), self.p)


@partial(layer_with, "attend")
def weights_after_dropout(self, q, k, v, mask, need_weights):
    """you return the weights after dropout

    return what the softmax gave; drop only for the product
    """
    return dropped_weights_returned(
        q, k, v, mask, dropout_p=self.p, need_weights=need_weights
    )


@partial(layer_with, "attend")
def averaged_over_heads(self, q, k, v, mask, need_weights):
    """you average the weights over the heads, as nn.MultiheadAttention does

    the weights keep their axis of heads, (B, H, T, T): average_attn_weights=False
    """
    context, weights = Heads.attend(self, q, k, v, mask, need_weights)
    return context, weights.mean(1) if need_weights else None


@partial(layer_with, "attend")
def average_for_every_head(self, q, k, v, mask, need_weights):
    """you return the heads' mean as the weights of every head

    each head has its own: average_attn_weights=False
    """
    context, weights = Heads.attend(self, q, k, v, mask, need_weights)
    if need_weights:
        weights = weights.mean(1, keepdim=True).expand_as(weights)
    return context, weights


@partial(layer_with, "attend")
def layer_returns_weights_always(self, q, k, v, mask, need_weights):
    """you return the weights, though they are not asked for

    hand `need_weights` on
    """
    return Heads.attend(self, q, k, v, mask, True)


@partial(layer_with, "finish")
def no_output_projection(self, merged, x):
    """you return the joined heads without mixing them by out_proj

    the last step is `self.out_proj(merged)`
    """
    return merged


@partial(layer_with, "finish")
def residual_inside(self, merged, x):
    """you add x to the output

    the encoder layer adds it, not attention
    """
    return x + self.out_proj(merged)


@partial(layer_with, "project")
def one_projection(self, x):
    """you make queries, keys and values by one projection

    each has its own: q_proj, k_proj, v_proj
    """
    return (self.q_proj(x),) * 3


@partial(layer_with, "project")
def queries_and_keys_swapped(self, x):
    """you take queries for keys

    q_proj makes what asks, k_proj what is compared with it
    """
    return self.k_proj(x), self.q_proj(x), self.v_proj(x)


@partial(layer_with, "project")
def x_detached(self, x):
    """you cut x off: your projections learn, and what comes before them does not

    leave out detach(), .data and no_grad()
    """
    return Heads.project(self, x.detach())


@partial(layer_with, "project")
def weights_transposed_in_layer(self, x):
    """you multiply by the weights of a Linear as they are: they hold a row an output

    call the module, or multiply by `weight.T`
    """
    linear = (self.q_proj, self.k_proj, self.v_proj)
    return [x @ part.weight + part.bias for part in linear]


@partial(layer_with, "project")
def biases_forgotten(self, x):
    """you do not add the biases of queries, keys and values

    call the modules: `self.q_proj(x)`
    """
    return [F.linear(x, p.weight) for p in (self.q_proj, self.k_proj, self.v_proj)]


@partial(layer_with, "finish")
def computed_in_numpy(self, merged, x):
    """you go through NumPy: no gradient comes back, not even to the weights

    stay with tensors
    """
    return torch.from_numpy(self.out_proj(merged).detach().numpy())


def made(change):
    """Enter a module that is changed after it is made."""

    def init(self, *args, **choices):
        Heads.__init__(self, *args, **choices)
        change(self)

    told = {"__doc__": change.__doc__, "__module__": __name__, "__init__": init}
    return wrong("MultiHeadAttention")(type(change.__name__, (Heads,), told))


@made
def shared_projection(self):
    """one Linear stands under two names: queries and keys share their weights

    make a new one for each
    """
    self.k_proj = self.q_proj


@made
def without_bias(self):
    """your projections have no bias

    nn.Linear has one unless bias=False
    """
    for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
        setattr(self, name, nn.Linear(self.d_model, self.d_model, bias=False))


@made
def plain_list(self):
    """your projections stand in a plain list: the module does not see them

    keep each under its name, self.q_proj = nn.Linear(…)
    """
    modules = [self.q_proj, self.k_proj, self.v_proj, self.out_proj]
    self._modules.clear()
    self.projections = modules


@made
def fused_projection(self):
    """you keep one projection for all three: no checkpoint fits the names

    q_proj, k_proj and v_proj; put their weights together in `forward` if you like
    """
    del self.q_proj, self.k_proj, self.v_proj
    self.qkv_proj = nn.Linear(self.d_model, 3 * self.d_model)


@wrong("MultiHeadAttention")
class RemainderUnchecked(Heads):
    """you do not refuse a width that the heads cannot share

    raise ValueError if `d_model % num_heads` is not 0
    """

    def __init__(self, d_model, num_heads, *, dropout=0.0):
        super().__init__(d_model, 1, dropout=dropout)
        self.num_heads = num_heads


@wrong("MultiHeadAttention")
class MaskOfAnyAxes(Heads):
    """you accept a mask that lacks the axis of heads: one a sequence is taken per head

    raise ValueError unless it has one axis more than x
    """

    def forward(self, x, mask=None, *, need_weights=False):
        if mask is not None and mask.ndim == x.ndim:
            mask = mask[:, None]
        return super().forward(x, mask, need_weights=need_weights)
