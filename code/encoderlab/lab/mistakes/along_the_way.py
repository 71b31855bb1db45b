"""What goes wrong in the exercises that ask for no part of the package."""

from collections.abc import Callable
from functools import partial

import numpy as np

from encoderlab import along_the_way
from encoderlab.lab.mistakes import mistake
from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_numpy import training
from encoderlab.with_numpy.encoder import TextEncoder
from encoderlab.with_numpy.parameters import count, parameters

shape = partial(mistake, "encoder_shapes")


def shaped(names, axes):
    """Give some arrays, by name, other axes: a function of B, T, D and H."""

    def encoder_shapes(B, T, D, H):
        right = along_the_way.encoder_shapes(B, T, D, H)
        return right | {name: axes(B, T, D, H) for name in names.split()}

    return encoder_shapes


shape(
    "ids_as_vectors",
    "you give each token id a vector; an id is one number",
    "two axes: texts and tokens",
)(shaped("token_ids", lambda B, T, D, H: (B, T, D)))
shape(
    "tokens_first",
    "you put tokens before texts",
    "the batch is the first axis of every array",
)(
    lambda B, T, D, H: (
        along_the_way.encoder_shapes(B, T, D, H)
        | {"token_ids": (T, B), "x": (T, B, D), "output": (T, B, D)}
    )
)
shape(
    "no_batch",
    "you leave out the batch: the encoder reads B texts at once",
    "B is the first axis of every array",
)(
    lambda B, T, D, H: {
        name: axes[1:]
        for name, axes in along_the_way.encoder_shapes(B, T, D, H).items()
    }
)
shape(
    "width_before_tokens",
    "you put the width before the tokens",
    "each token's vector is a row: its numbers are the last axis",
)(shaped("x output", lambda B, T, D, H: (B, D, T)))
shape(
    "x_in_heads",
    "you cut x into heads",
    "attention does that inside; what goes in has one vector of D numbers a token",
)(shaped("x", lambda B, T, D, H: (B, H, T, D // H)))
shape(
    "scores_without_heads",
    "you forget the heads: each has scores of its own",
    "scores and weights have four axes",
)(shaped("scores weights", lambda B, T, D, H: (B, T, T)))
shape(
    "heads_after_queries",
    "you put the heads between queries and keys",
    "texts, heads, queries, keys",
)(shaped("scores weights", lambda B, T, D, H: (B, T, H, T)))
shape(
    "heads_last",
    "you put the heads after queries and keys",
    "texts, heads, queries, keys",
)(shaped("scores weights", lambda B, T, D, H: (B, T, T, H)))
shape(
    "heads_first",
    "you put the heads before the texts",
    "texts, heads, queries, keys",
)(shaped("scores weights", lambda B, T, D, H: (H, B, T, T)))
shape(
    "one_score_a_token",
    "you give a query one score; it has one for each key",
    "T queries and T keys are two axes",
)(shaped("scores weights", lambda B, T, D, H: (B, H, T)))
shape(
    "scores_as_wide_as_a_head",
    "you give scores the width of a query; they count keys",
    "the last axis of the scores has one place a key, of which there are T",
)(shaped("scores weights", lambda B, T, D, H: (B, H, T, D // H)))
shape(
    "scores_as_wide_as_x",
    "you give scores the width of x; they count keys",
    "the last axis of the scores has one place a key, of which there are T",
)(shaped("scores weights", lambda B, T, D, H: (B, H, T, D)))
shape(
    "softmax_takes_an_axis",
    "you let softmax take away an axis",
    "it turns each row of scores into as many shares",
)(shaped("weights", lambda B, T, D, H: (B, H, T)))
shape(
    "one_vector_a_text",
    "you give each text one vector; the encoder returns one a token",
    "the output has the shape of x",
)(shaped("output", lambda B, T, D, H: (B, D)))
shape(
    "output_without_width",
    "you give each token one number; the encoder returns a vector of D",
    "the output has the shape of x",
)(shaped("output", lambda B, T, D, H: (B, T)))
shape(
    "output_in_heads",
    "you leave the output in heads; the layer joins them again",
    "the output has the shape of x",
)(shaped("output", lambda B, T, D, H: (B, H, T, D // H)))


def itself(mask):
    return np.eye(len(mask), dtype=bool)


@wrong("reach")
def turned_round(mask, num_layers):
    """you give in row t who can know of token t, not of whom it can know

    rows are those who know: queries, as in the mask
    """
    return along_the_way.reach(mask, num_layers).T


@wrong("reach")
def forgets_what_it_knew(mask, num_layers):
    """you let a token forget what it knew before the layer

    a token keeps what it knows: join the old to the new
    """
    known = itself(mask)
    for _ in range(num_layers):
        known = mask @ known
    return known


@wrong("reach")
def does_not_know_itself(mask, num_layers):
    """you do not count that a token knows of itself

    before the first layer each token knows of itself
    """
    known = np.zeros_like(mask)
    for _ in range(num_layers):
        known = known | mask | (mask @ known)
    return known


@wrong("reach")
def depth_ignored(mask, num_layers):
    """you stop after one layer

    in the next layer tokens pass on what they have learnt in this one
    """
    return itself(mask) | (mask & (num_layers > 0))


@wrong("reach")
def one_layer_too_many(mask, num_layers):
    """you go through one layer too many

    start with each token knowing of itself alone: that is the state after no layer
    """
    return along_the_way.reach(mask, num_layers + 1)


@wrong("reach")
def one_layer_too_few(mask, num_layers):
    """you go through one layer too few

    what the mask says is known after the first layer, not before it
    """
    return along_the_way.reach(mask, max(num_layers - 1, 0))


@wrong("reach")
def doubling(mask, num_layers):
    """you double the reach with each layer

    a layer goes one step further, by the mask, whatever was known before
    """
    known = along_the_way.reach(mask, min(num_layers, 1))
    for _ in range(1, num_layers):
        known = known @ known
    return known


@wrong("reach")
def however_many_layers(mask, num_layers):
    """you follow the mask however many layers that takes

    each layer goes one step along the mask, and there are `num_layers`
    """
    return along_the_way.reach(mask, len(mask)) if num_layers else itself(mask)


@wrong("reach")
def within_the_layer(mask, num_layers):
    """you pass on within a layer what was learnt in this layer

    all tokens learn at once, of what was known before: write into a new array
    """
    known = itself(mask)
    for _ in range(num_layers):
        for t, s in np.argwhere(mask):
            known[t] |= known[s]
    return known


@wrong("reach")
def both_ways(mask, num_layers):
    """you let knowledge pass both ways

    mask[t, s] lets t know of s, and not s of t
    """
    return along_the_way.reach(mask | mask.T, num_layers)


@wrong("reach")
def counts_the_ways(mask, num_layers):
    """you count the ways along which a token is known

    return booleans: whether there is one
    """
    step = itself(mask).astype(int) + mask
    return np.linalg.matrix_power(step, num_layers)


@wrong("reach")
def writes_into_the_mask(mask, num_layers):
    """you write into the mask that you are given

    work on a copy
    """
    if num_layers == 0:
        return itself(mask)
    mask |= itself(mask)
    return along_the_way.reach(mask, num_layers)


def no_check(name, ids, table):
    """Let every id through."""


def summed(
    total,
    tokens=along_the_way._require_rows,
    segments=along_the_way._require_rows,
    longest=len,
):
    """Embed with another sum, or other checks of ids and length.

    The sum is a function of the tokens' rows, the positions' rows, the segments', the
    table of positions and the norm.
    """

    def embed(token_ids, segment_ids, W_token, W_position, W_segment, norm):
        tokens("token_ids", token_ids, W_token)
        segments("segment_ids", segment_ids, W_segment)
        T = token_ids.shape[1]
        if longest(W_position) < T:
            raise ValueError("too few positions")
        rows = W_token[token_ids], W_position[:T], W_segment[segment_ids]
        return total(*rows, W_position, norm)

    return embed


def right_sum(t, p, s, table, norm):
    return norm(t + p + s)


embedding = partial(mistake, "embed")

embedding("no_norm", "you do not normalise the sum", "return norm of it")(
    summed(lambda t, p, s, table, norm: t + p + s)
)
embedding(
    "token_normalised_alone",
    "you normalise the token's row, and add the others to that",
    "call norm with the whole sum",
)(summed(lambda t, p, s, table, norm: norm(t) + p + s))
embedding(
    "rows_normalised_alone",
    "you normalise each of the three rows, and add them up",
    "call norm once, with the sum",
)(summed(lambda t, p, s, table, norm: norm(t) + norm(p) + norm(s)))
embedding(
    "no_positions",
    "you leave out the positions",
    "add W_position[:T], which fits every text",
)(summed(lambda t, p, s, table, norm: norm(t + s)))
embedding(
    "no_segments",
    "you leave out the segments",
    "add W_segment[segment_ids]",
)(summed(lambda t, p, s, table, norm: norm(t + p)))
embedding(
    "along_the_batch",
    "you number the texts of the batch; positions run along the tokens",
    "add an array of shape (T, D), which fits every text",
)(summed(lambda t, p, s, table, norm: norm(t + table[: len(t), None] + s)))
embedding(
    "one_position",
    "you take one row of W_position for all tokens; each needs its own",
    "take the first T rows, W_position[:T]",
)(summed(lambda t, p, s, table, norm: norm(t + p[-1] + s)))
embedding(
    "last_positions",
    "you take the last rows of W_position",
    "positions are counted from 0: take the first T rows",
)(summed(lambda t, p, s, table, norm: norm(t + table[-len(p) :] + s)))
embedding(
    "positions_from_1",
    "you count positions from 1",
    "the first token is at position 0",
)(summed(lambda t, p, s, table, norm: norm(t + table[1 : len(p) + 1] + s)))
embedding(
    "multiplied",
    "you multiply by the positions; add them",
    "three rows are added, for token, position and segment",
)(summed(lambda t, p, s, table, norm: norm(t * p + s)))
embedding(
    "scaled",
    "you multiply the token's row by the root of D, as the first paper does",
    "add the rows as they are, as BERT does",
)(summed(lambda t, p, s, table, norm: norm(t * t.shape[-1] ** 0.5 + p + s)))


@wrong("embed")
def segment_0_for_all(token_ids, segment_ids, W_token, W_position, W_segment, norm):
    """you add row 0 of W_segment to every token

    each token has its own segment: W_segment[segment_ids]
    """
    right = summed(right_sum)
    right(token_ids, segment_ids, W_token, W_position, W_segment, norm)
    first = np.zeros_like(segment_ids)
    return right(token_ids, first, W_token, W_position, W_segment, norm)


def negative(name, ids, table):
    """Refuse a negative id, and leave one that is too large to NumPy."""
    if ids.min() < 0:
        raise ValueError("a negative id")


def too_large(name, ids, table):
    """Refuse an id that is too large, and no other."""
    if ids.max() >= len(table):
        raise ValueError("too large an id")


def asserted(name, ids, table):
    """Assert what should be refused."""
    assert ids.min() >= 0
    assert ids.max() < len(table)


embedding(
    "negative_accepted",
    "you accept the id -1, for which NumPy takes the last row",
    "refuse ids below 0 with a ValueError, in both arrays of ids",
)(summed(right_sum, too_large, too_large))
embedding(
    "too_large_left_to_numpy",
    "you leave ids that are too large to NumPy, which raises an IndexError",
    "compare them with the length of their table, and raise a ValueError",
)(summed(right_sum, negative, negative))
embedding(
    "segments_unchecked",
    "you check token ids only",
    "segment ids must be rows of their table as well",
)(summed(right_sum, segments=no_check))
embedding(
    "ids_unchecked",
    "you check no id",
    "an id must be a row of its table: NumPy takes -1 for the last",
)(summed(right_sum, no_check, no_check))
embedding(
    "length_unchecked",
    "you do not compare T with the rows of W_position",
    "a table of one row fits any T: NumPy repeats it",
)(summed(right_sum, longest=lambda table: np.inf))
embedding(
    "asserted",
    "you use assert where a ValueError is asked for",
    "write `if ...: raise ValueError(...)`; assertions can be switched off",
)(summed(right_sum, asserted, asserted))


def moves_alone(f, x, rows):
    """Tell whether, where one of some rows changes, no other result does."""
    for t in rows:
        changed = x.copy()
        changed[t] += 1
        others = np.arange(len(x)) != t
        if not np.allclose(f(changed)[others], f(x)[others]):
            return False
    return True


def shuffles(f, x):
    """Tell whether shuffled tokens give shuffled results."""
    order = np.roll(np.arange(len(x)), 2)
    return np.allclose(f(x[order]), f(x)[order])


@wrong("is_position_wise")
def shuffled_only(f, x):
    """you shuffle the tokens, and look no further: attention passes that

    change one token as well, or look at each alone: no other result may move
    """
    return shuffles(f, x)


@wrong("is_position_wise")
def changed_only(f, x):
    """you change one token after the other, and accept an f that tells positions apart

    shuffle the tokens as well: their results must be shuffled alike
    """
    return moves_alone(f, x, range(len(x)))


@wrong("is_position_wise")
def first_changed(f, x):
    """you change the first token only, and do not shuffle

    a token may depend on those after it, or f may tell positions apart
    """
    return moves_alone(f, x, [0])


@wrong("is_position_wise")
def last_changed(f, x):
    """you change the last token only, and do not shuffle

    a token may depend on those before it, or f may tell positions apart
    """
    return moves_alone(f, x, [len(x) - 1])


@wrong("is_position_wise")
def first_alone(f, x):
    """you look at the first token alone, and at no other

    compare every row of f(x) with what f makes of that token alone
    """
    return np.allclose(f(x[:1]), f(x)[:1])


@wrong("is_position_wise")
def last_alone(f, x):
    """you look at the last token alone, and at no other

    compare every row of f(x) with what f makes of that token alone
    """
    return np.allclose(f(x[-1:]), f(x)[-1:])


@wrong("is_position_wise")
def compared_exactly(f, x):
    """you compare without a tolerance

    f may round otherwise where other tokens stand beside: use np.allclose
    """
    alone = np.concatenate([f(x[t : t + 1]) for t in range(len(x))])
    return np.array_equal(f(x), alone)


@wrong("is_position_wise")
def compared_loosely(f, x):
    """you compare with a tolerance so wide that a small influence is not seen

    leave np.allclose its own tolerances
    """
    alone = np.concatenate([f(x[t : t + 1]) for t in range(len(x))])
    return np.allclose(f(x), alone, atol=0.1)


@wrong("is_position_wise")
def its_own_result_must_move(f, x):
    """you demand that a token's result moves with the token

    an f that gives every token the same vector is position-wise too
    """
    moved = [not np.allclose(f(x + 1)[t], f(x)[t]) for t in range(len(x))]
    return along_the_way.is_position_wise(f, x) and all(moved)


@wrong("is_position_wise")
def compares_shapes(f, x):
    """you compare shapes alone

    attention keeps the shape as well: compare the values
    """
    return all(f(x[t : t + 1]).shape == x[t : t + 1].shape for t in range(len(x)))


@wrong("is_position_wise")
def position_wise_turned_round(f, x):
    """you return False where f is position-wise, and True where it is not

    True means that f is position-wise
    """
    return not along_the_way.is_position_wise(f, x)


@wrong("is_position_wise")
def x_is_changed(f, x):
    """you change the x that you are given

    change a copy, x.copy()
    """
    answer = along_the_way.is_position_wise(f, x)
    x[0] += 1
    return answer


@wrong("dropout_backward")
def mask_forgotten(d_y, kept, p):
    """you forget the mask: what was dropped gets a gradient

    a number that did not reach the output cannot change it: multiply by `kept`
    """
    return d_y / (1 - p)


@wrong("dropout_backward")
def scale_forgotten(d_y, kept, p):
    """you forget the scale

    what was kept was divided by 1 - p, and its gradient is too
    """
    return d_y * kept


@wrong("dropout_backward")
def passed_through(d_y, kept, p):
    """you hand the gradient on as it is

    each number goes back through what it went through forward: mask and scale
    """
    return d_y.copy()


@wrong("dropout_backward")
def scale_undone(d_y, kept, p):
    """you multiply by 1 - p, as if the scale had to be undone

    a gradient is multiplied by the same factor on the way back: divide by 1 - p
    """
    return d_y * kept * (1 - p)


@wrong("dropout_backward")
def scaled_twice(d_y, kept, p):
    """you divide by 1 - p twice

    the factor of the forward pass comes in once
    """
    return d_y * kept / (1 - p) ** 2


@wrong("dropout_backward")
def divided_by_p(d_y, kept, p):
    """you divide by p, the probability of dropping

    what was kept was divided by 1 - p
    """
    return d_y * kept / p


@wrong("dropout_backward")
def divided_by_the_share(d_y, kept, p):
    """you divide by the share that happened to be kept

    the forward pass divided by 1 - p, whatever that share was
    """
    return d_y * kept / kept.mean()


@wrong("dropout_backward")
def mask_inverted(d_y, kept, p):
    """you give the gradient to what was dropped

    `kept` is True where a number survived
    """
    return d_y * ~kept / (1 - p)


@wrong("dropout_backward")
def dropped_left_alone(d_y, kept, p):
    """you scale the gradient where a number was kept, and let the rest through

    where a number was dropped the gradient is 0
    """
    return np.where(kept, d_y / (1 - p), d_y)


@wrong("dropout_backward")
def new_mask(d_y, kept, p):
    """you draw a new mask

    the way back takes the mask of the forward pass, `kept`
    """
    return d_y * (np.random.default_rng(0).random(d_y.shape) >= p) / (1 - p)


@wrong("dropout_backward")
def gradient_overwritten(d_y, kept, p):
    """you change the gradient that you are given

    make a new array: `d_y * kept`, not `d_y *= kept`
    """
    d_y *= kept / (1 - p)
    return d_y


X = np.array([[-1.5, 0.0, 0.25], [3.0, -0.5, 40.0]])
RATES = 0.0, 0.1, 0.5, 0.9


def tried(f, same=np.array_equal, x=X, rates=RATES, rng=()):
    """Test a dropout as one should, but for what is changed here."""
    for p in rates:
        given = x.copy()
        if not (same(f(given, p, *rng), x) and np.array_equal(given, x)):
            return False
    return True


@wrong("identity_in_evaluation")
def answer_turned_round(f):
    """you return True where the values change, and False where they do not

    True means that f is the identity
    """
    return not tried(f)


@wrong("identity_in_evaluation")
def only_asserts(f):
    """you stop at an assertion where f is wrong, and return nothing where it is right

    return True or False: an AssertionError is no answer
    """
    assert tried(f)


@wrong("identity_in_evaluation")
def looks_at_the_shape(f):
    """you compare shapes alone

    every dropout keeps the shape: compare the values
    """
    return tried(f, lambda y, x: np.shape(y) == x.shape)


@wrong("identity_in_evaluation")
def insists_on_the_same_array(f):
    """you ask whether the very array comes back, and refuse a copy

    compare the values, not with `is`
    """
    return all(f(x, p) is x for p in RATES for x in [X.copy()])


@wrong("identity_in_evaluation")
def compares_with_what_is_left(f):
    """you compare with x as it is after the call, and f may have changed it

    keep a copy of x before you call f
    """
    x = X.copy()
    return all(np.array_equal(f(x, p), x) for p in RATES)


@wrong("identity_in_evaluation")
def does_not_look_at_the_input(f):
    """you do not look whether x is still what it was

    keep a copy, and compare x with it after the call
    """
    return all(np.array_equal(f(X.copy(), p), X) for p in RATES)


@wrong("identity_in_evaluation")
def mean_alone(f):
    """you compare the mean, and other values may have the same

    compare value by value
    """
    return tried(f, lambda y, x: np.isclose(y.mean(), x.mean()))


@wrong("identity_in_evaluation")
def any_value(f):
    """you are content if one value is equal

    all must be, not any
    """
    return tried(f, lambda y, x: (y == x).any())


@wrong("identity_in_evaluation")
def loose_tolerance(f):
    """you allow a difference of one per cent

    the identity changes nothing: ask for equality
    """
    return tried(f, lambda y, x: np.allclose(y, x, rtol=1e-2))


@wrong("identity_in_evaluation")
def no_negative_value(f):
    """you try no negative value

    whatever the floats: abs(x) looks right where all are above 0
    """
    return tried(f, x=abs(X))


@wrong("identity_in_evaluation")
def all_values_equal(f):
    """you try an array whose values are all equal, such as ones

    use values that differ, in sign too
    """
    return tried(f, x=np.ones((2, 3)))


@wrong("identity_in_evaluation")
def one_rate(f):
    """you try a single p

    f may be right for this one alone: try 0, a few between, and one near 1
    """
    return tried(f, rates=[0.5])


@wrong("identity_in_evaluation")
def rate_0_alone(f):
    """you try p = 0 alone, where even a wrong scale is 1

    try several p
    """
    return tried(f, rates=[0.0])


@wrong("identity_in_evaluation")
def no_rate_0(f):
    """you leave out p = 0

    p goes from 0 to just below 1: try 0 itself as well
    """
    return tried(f, rates=RATES[1:])


@wrong("identity_in_evaluation")
def no_large_rate(f):
    """you try no p above 0.5

    p goes from 0 to just below 1: try one near 1 as well
    """
    return tried(f, rates=RATES[:-1])


@wrong("identity_in_evaluation")
def rate_1(f):
    """you try p = 1, which is none

    p stays below 1: dropout may refuse it
    """
    return tried(f, rates=[*RATES, 1.0])


@wrong("identity_in_evaluation")
def in_training(f):
    """you hand in a generator, which switches dropout on

    call f(x, p): evaluation is where `rng` is None
    """
    return tried(f, rng=[np.random.default_rng(0)])


def wiring(name: str) -> Callable:
    """Enter another wiring of x, the sublayer f and the norm n in both orders."""

    def build(ways):
        pre, post = ways()

        def residual(x, sublayer, norm, norm_first):
            return (pre if norm_first else post)(x, sublayer, norm)

        return residual

    return wrong("residual", name, build)


def pre_norm(x, f, n):
    return x + f(n(x))


def post_norm(x, f, n):
    return n(x + f(x))


@wiring("orders_swapped")
def _():
    """you take pre-norm for post-norm and the reverse

    `norm_first` means before the sublayer
    """
    return post_norm, pre_norm


@wiring("always_post")
def _():
    """you normalise the sum, whatever `norm_first` says

    pre-norm normalises what enters the sublayer
    """
    return post_norm, post_norm


@wiring("always_pre")
def _():
    """you normalise before the sublayer, whatever `norm_first` says

    post-norm normalises the sum
    """
    return pre_norm, pre_norm


@wiring("no_residual")
def _():
    """you do not add x

    the sublayer gives a change: x plus that is the result
    """
    return (lambda x, f, n: f(n(x))), (lambda x, f, n: n(f(x)))


@wiring("no_norm")
def _():
    """you do not normalise

    call `norm` in both orders
    """
    return (lambda x, f, n: x + f(x)), (lambda x, f, n: x + f(x))


@wiring("stream_normalised")
def _():
    """you add the change to the normalised x in pre-norm

    the sum holds x as it came
    """
    return (lambda x, f, n: n(x) + f(n(x))), post_norm


@wiring("stream_normalised_in_place_of_sum")
def _():
    """you normalise x, not the sum, in post-norm

    the norm comes last, around all
    """
    return pre_norm, (lambda x, f, n: n(x) + f(x))


@wiring("change_normalised")
def _():
    """you normalise what the sublayer wrote

    pre-norm normalises what it reads, post-norm the sum
    """
    return (lambda x, f, n: x + n(f(x))), (lambda x, f, n: x + n(f(x)))


@wiring("change_normalised_in_post_norm")
def _():
    """you normalise what the sublayer wrote, without x, in post-norm

    post-norm normalises the sum
    """
    return pre_norm, (lambda x, f, n: x + n(f(x)))


@wiring("pre_and_post")
def _():
    """you normalise before the sublayer in both orders, and the sum too in post-norm

    in post-norm the sublayer gets x as it came
    """
    return pre_norm, (lambda x, f, n: n(x + f(n(x))))


@wiring("post_in_pre")
def _():
    """you normalise the sum too in pre-norm

    in pre-norm the sum stays as it is
    """
    return (lambda x, f, n: n(x + f(n(x)))), post_norm


@wiring("sum_before_sublayer")
def _():
    """you add x before the sublayer, not after it

    the sublayer reads one thing; x is added to what it wrote
    """
    return (lambda x, f, n: f(x + n(x))), (lambda x, f, n: n(f(x + x)))


@wiring("subtracted")
def _():
    """you subtract the change

    add it: x + …
    """
    return (lambda x, f, n: x - f(n(x))), (lambda x, f, n: n(x - f(x)))


@wiring("into_x")
def _():
    """you add into the caller's array

    `x + …` makes a new one, `x += …` does not
    """

    def pre(x, f, n):
        x += f(n(x))
        return x

    def post(x, f, n):
        x += f(x)
        return n(x)

    return pre, post


@wiring("into_the_change")
def _():
    """you add x into what the sublayer returned, which may be the caller's array

    `x + change` makes a new array, `change += x` does not
    """

    def post(x, f, n):
        change = f(x)
        change += x
        return n(change)

    return pre_norm, post


def counted(name: str) -> Callable:
    """Enter another count, from the right one and the config."""

    def build(changed):
        def parameter_count(c):
            D, F, N = c.d_model, c.d_ff, c.num_layers
            layers = N * (4 * D * D + 9 * D + 2 * D * F + F)
            rows = c.vocab_size + c.max_seq_len + c.num_segments
            final = 2 * D * c.norm_first
            return changed(layers + (rows + 2) * D + final, c, D, F, N)

        return parameter_count

    return wrong("parameter_count", name, build)


@counted("always_4_d")
def _(right, c, D, F, N):
    """you take d_ff for 4 times d_model

    12 D² + 13 D holds only then: count with F
    """
    return right + N * ((2 * D + 1) * (4 * D - F))


@counted("always_a_final_norm")
def _(right, c, D, F, N):
    """you count a final norm in post-norm too

    only a pre-norm stack ends with one
    """
    return right + 2 * D * (not c.norm_first)


@counted("no_final_norm")
def _(right, c, D, F, N):
    """you leave out the final norm of pre-norm

    it has 2 D more
    """
    return right - 2 * D * c.norm_first


@counted("final_norm_in_post_norm")
def _(right, c, D, F, N):
    """you count the final norm in post-norm, and not in pre-norm

    `norm_first` means pre-norm, whose sum is not normalised yet
    """
    return right + 2 * D * (1 - 2 * c.norm_first)


@counted("final_norm_in_each_layer")
def _(right, c, D, F, N):
    """you count the final norm once a layer

    it stands after the stack, once
    """
    return right + 2 * D * c.norm_first * (N - 1)


@counted("no_embedding_norm")
def _(right, c, D, F, N):
    """you leave out the norm of the embedding

    it has 2 D
    """
    return right - 2 * D


@counted("no_embedding")
def _(right, c, D, F, N):
    """you count the layers without the embedding

    its three tables and its norm are parameters too
    """
    return right - (c.vocab_size + c.max_seq_len + c.num_segments + 2) * D


@counted("no_positions")
def _(right, c, D, F, N):
    """you leave out the table of positions

    positions are learned: max_seq_len rows
    """
    return right - c.max_seq_len * D


@counted("no_segments")
def _(right, c, D, F, N):
    """you leave out the table of segments

    it has num_segments rows
    """
    return right - c.num_segments * D


@counted("always_2_segments")
def _(right, c, D, F, N):
    """you count 2 segments, whatever `num_segments` says

    take it from the config
    """
    return right + (2 - c.num_segments) * D


@counted("one_layer")
def _(right, c, D, F, N):
    """you count one layer only

    there are num_layers, each with its own weights
    """
    return right - (N - 1) * (4 * D * D + 9 * D + 2 * D * F + F)


@counted("embedding_in_each_layer")
def _(right, c, D, F, N):
    """you multiply the embedding by the number of layers

    it stands there once
    """
    return right + (N - 1) * D * (c.vocab_size + c.max_seq_len + c.num_segments + 2)


@counted("no_biases")
def _(right, c, D, F, N):
    """you leave out all biases

    attention has 4 D of them, the feed-forward network F + D
    """
    return right - N * (5 * D + F)


@counted("no_attention_biases")
def _(right, c, D, F, N):
    """you leave out the biases of attention

    each of its four matrices has one of D
    """
    return right - N * 4 * D


@counted("no_feed_forward_biases")
def _(right, c, D, F, N):
    """you leave out the biases of the feed-forward network

    they have F and D values
    """
    return right - N * (F + D)


@counted("both_biases_of_f")
def _(right, c, D, F, N):
    """you count F values for both biases of the feed-forward network

    the second is added to its output, which has the width D
    """
    return right + N * (F - D)


@counted("three_matrices")
def _(right, c, D, F, N):
    """you count three matrices in attention

    W_q, W_k, W_v and W_o are four
    """
    return right - N * (D * D + D)


@counted("one_head")
def _(right, c, D, F, N):
    """you count queries, keys and values of one head only

    all heads together have the width D
    """
    return right - N * 3 * (D * D + D) * (c.num_heads - 1) // c.num_heads


@counted("whole_matrices_for_each_head")
def _(right, c, D, F, N):
    """you multiply attention's parameters by the number of heads

    the heads share out the width D: each has D / H of it
    """
    return right + N * (4 * D * D + 4 * D) * (c.num_heads - 1)


@counted("one_norm_in_a_layer")
def _(right, c, D, F, N):
    """you count one norm in a layer

    each of the two sublayers has its own
    """
    return right - N * 2 * D


@counted("no_norm_in_a_layer")
def _(right, c, D, F, N):
    """you leave out the norms of the layers

    each layer has two
    """
    return right - N * 4 * D


@counted("norms_without_a_shift")
def _(right, c, D, F, N):
    """you count D values a norm

    each has γ and β
    """
    return right - D * (2 * N + 1 + c.norm_first)


@counted("with_a_pooler")
def _(right, c, D, F, N):
    """you count a pooler, one more square matrix with a bias

    BERT has one; the encoder here ends with its last layer
    """
    return right + D * D + D


@wrong("parameter_count")
def makes_the_arrays(config):
    """you make the arrays and count them, which a large model has no memory for

    work it out from the sizes
    """
    return count(TextEncoder(config, rng=np.random.default_rng(0)))


def adam(name: str) -> Callable:
    """Enter another step, from the right new means and their corrections."""

    def build(way):
        def adam_step(theta, gradient, m, v, t, lr, betas, eps):
            a, b = betas
            new = a * m + (1 - a) * gradient, b * v + (1 - b) * gradient**2
            c = 1 - a**t, 1 - b**t
            change = way(*new, *c, eps)
            return theta - lr * change, *new

        return adam_step

    return wrong("adam_step", name, build)


@adam("no_correction")
def _(m, v, c_1, c_2, eps):
    """you do not correct the means for their start at 0

    divide m by 1 - beta_1**t and v by 1 - beta_2**t
    """
    return m / (np.sqrt(v) + eps)


@adam("only_m_corrected")
def _(m, v, c_1, c_2, eps):
    """you correct m, and not v

    divide v by 1 - beta_2**t
    """
    return m / c_1 / (np.sqrt(v) + eps)


@adam("only_v_corrected")
def _(m, v, c_1, c_2, eps):
    """you correct v, and not m

    divide m by 1 - beta_1**t
    """
    return m / (np.sqrt(v / c_2) + eps)


@adam("multiplied_by_corrections")
def _(m, v, c_1, c_2, eps):
    """you multiply by 1 - beta**t

    the means are too small at first: divide
    """
    return m * c_1 / (np.sqrt(v * c_2) + eps)


@adam("corrections_swapped")
def _(m, v, c_1, c_2, eps):
    """you correct m with beta_2 and v with beta_1

    each mean has its own
    """
    return m / c_2 / (np.sqrt(v / c_1) + eps)


@adam("corrected_outside_the_root")
def _(m, v, c_1, c_2, eps):
    """you divide by 1 - beta_2**t after the root

    correct v, then take the root
    """
    return m / c_1 / (np.sqrt(v) / c_2 + eps)


@adam("eps_inside_root")
def _(m, v, c_1, c_2, eps):
    """you add eps inside the root

    take the root, then add eps
    """
    return m / c_1 / np.sqrt(v / c_2 + eps)


@adam("eps_corrected_too")
def _(m, v, c_1, c_2, eps):
    """you add eps to the root before v is corrected

    correct v, take the root, then add eps
    """
    return m / c_1 / ((np.sqrt(v) + eps) / np.sqrt(c_2))


@adam("eps_forgotten")
def _(m, v, c_1, c_2, eps):
    """you do not use `eps`

    it is added to the root
    """
    return m / c_1 / np.sqrt(v / c_2)


@adam("no_root")
def _(m, v, c_1, c_2, eps):
    """you divide by v, not by its root

    v has the unit of a squared gradient
    """
    return m / c_1 / (v / c_2 + eps)


@adam("up_the_slope")
def _(m, v, c_1, c_2, eps):
    """you go up the slope

    subtract the step from theta
    """
    return -m / c_1 / (np.sqrt(v / c_2) + eps)


@adam("only_the_sign")
def _(m, v, c_1, c_2, eps):
    """you divide m by its own size, and not by the root of v

    v stands in the denominator
    """
    return m / c_1 / (abs(m / c_1) + eps)


def means(name: str) -> Callable:
    """Enter a step with other means; each way takes m, v, the gradient and betas."""

    def build(way):
        def adam_step(theta, gradient, m, v, t, lr, betas, eps):
            m, v = way(m, v, gradient, *betas)
            c_1, c_2 = 1 - betas[0] ** t, 1 - betas[1] ** t
            return theta - lr * m / c_1 / (np.sqrt(v / c_2) + eps), m, v

        return adam_step

    return wrong("adam_step", name, build)


@means("sums")
def _(m, v, g, a, b):
    """you add the gradient in full, as momentum does

    a running mean gets the share 1 - beta of it
    """
    return a * m + g, b * v + g**2


@means("shares_swapped")
def _(m, v, g, a, b):
    """you keep 1 - beta of a mean, and take beta of the gradient

    beta is the share that is kept
    """
    return (1 - a) * m + a * g, (1 - b) * v + b * g**2


@means("betas_swapped")
def _(m, v, g, a, b):
    """you take beta_2 for m and beta_1 for v

    the first of `betas` belongs to m
    """
    return b * m + (1 - b) * g, a * v + (1 - a) * g**2


@means("one_beta")
def _(m, v, g, a, b):
    """you take beta_1 for both means

    v has beta_2
    """
    return a * m + (1 - a) * g, a * v + (1 - a) * g**2


@means("gradient_not_squared")
def _(m, v, g, a, b):
    """you put the gradient into v without squaring it

    v is the running mean of its square
    """
    return a * m + (1 - a) * g, b * v + (1 - b) * g


@means("share_squared_too")
def _(m, v, g, a, b):
    """you square the share 1 - beta_2 with the gradient

    (1 - beta_2) * gradient**2
    """
    return a * m + (1 - a) * g, b * v + ((1 - b) * g) ** 2


@means("mean_squared")
def _(m, v, g, a, b):
    """you put the square of m into v

    v is the running mean of the gradient's square
    """
    m = a * m + (1 - a) * g
    return m, b * v + (1 - b) * m**2


def stepped(name: str) -> Callable:
    """Enter another way to take or return the right step."""

    def build(way):
        def adam_step(theta, gradient, m, v, t, lr, betas, eps):
            def take(t):
                own = theta.copy()
                optimizer = training.Adam({"x": own}, lr=lr, betas=betas, eps=eps)
                optimizer.m["x"], optimizer.v["x"] = m.copy(), v.copy()
                optimizer.t = t - 1
                optimizer.step({"x": gradient})
                return own, optimizer.m["x"], optimizer.v["x"]

            return way(take, t, theta, m, v, betas)

        return adam_step

    return wrong("adam_step", name, build)


@stepped("corrected_means_returned")
def _(take, t, theta, m, v, betas):
    """you return m and v corrected, and the next step would correct them again

    keep the corrected ones apart, under names of their own
    """
    theta, m, v = take(t)
    return theta, m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)


@stepped("old_means_returned")
def _(take, t, theta, m, v, betas):
    """you return m and v as they were

    return those after the step
    """
    return take(t)[0], m, v


@stepped("v_before_m")
def _(take, t, theta, m, v, betas):
    """you return v before m

    the order is theta, m, v
    """
    theta, m, v = take(t)
    return theta, v, m


@stepped("in_place")
def _(take, t, theta, m, v, betas):
    """you change the caller's arrays

    make new ones: m = …, not m += …
    """
    for own, new in zip((theta, m, v), take(t), strict=True):
        own[...] = new
    return theta, m, v


@stepped("counts_one_more")
def _(take, t, theta, m, v, betas):
    """you count a step more than `t` says

    t is 1 at the first step: take it as it is
    """
    return take(t + 1)


@wrong("adam_step")
def step_of_the_old_means(theta, gradient, m, v, t, lr, betas, eps):
    """you take the step with m and v from before

    first the means, then the step
    """
    a, b = betas
    step = m / (1 - a**t) / (np.sqrt(v / (1 - b**t)) + eps)
    m, v = a * m + (1 - a) * gradient, b * v + (1 - b) * gradient**2
    return theta - lr * step, m, v


@wrong("adam_step")
def times_t(theta, gradient, m, v, t, lr, betas, eps):
    """you multiply beta by t in the correction

    it is beta to the power of t: beta**t
    """
    a, b = betas
    m, v = a * m + (1 - a) * gradient, b * v + (1 - b) * gradient**2
    return theta - lr * m / (1 - a * t) / (np.sqrt(v / (1 - b * t)) + eps), m, v


@wrong("adam_step")
def counts_one_less(theta, gradient, m, v, t, lr, betas, eps):
    """you count a step less than `t` says, and divide by 0 at the first

    t is 1 at the first step: take it as it is
    """
    a, b = betas
    m, v = a * m + (1 - a) * gradient, b * v + (1 - b) * gradient**2
    c_1, c_2 = np.subtract(1.0, np.power(betas, t - 1.0))
    return theta - lr * m / c_1 / (np.sqrt(v / c_2) + eps), m, v


def trained(name: str) -> Callable:
    """Enter another step, from the loss and all that is needed to go on."""

    def build(way):
        def training_step(model, optimizer, images, targets, factor, max_norm):
            def look():
                return training.loss_and_gradients(model, (images,), targets)

            loss, gradients = look()
            other = way(model, optimizer, look, gradients, factor, max_norm)
            return loss if other is None else other

        return training_step

    return wrong("training_step", name, build)


def clip(gradients, max_norm):
    return training.clip_gradients(gradients, max_norm)[0]


@trained("not_clipped")
def _(model, optimizer, look, gradients, factor, max_norm):
    """the optimiser gets the gradients as they were before clipping

    clip_gradients returns new ones: hand those on
    """
    optimizer.step(gradients, factor)


@trained("factor_dropped")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you do not hand `factor` on

    optimizer.step(gradients, factor)
    """
    optimizer.step(clip(gradients, max_norm))


@trained("neither")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you neither clip nor hand `factor` on

    clip first, then optimizer.step(gradients, factor)
    """
    optimizer.step(gradients)


@trained("factor_in_gradients")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you multiply the gradients by `factor`, and what is remembered of them too

    it belongs to the learning rate: optimizer.step(gradients, factor)
    """
    clipped = clip(gradients, max_norm)
    optimizer.step({name: factor * g for name, g in clipped.items()})


@trained("factor_before_clipping")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you multiply the gradients by `factor` before you clip them

    clip what came out of the model; the factor goes to optimizer.step
    """
    scaled = {name: factor * g for name, g in gradients.items()}
    optimizer.step(clip(scaled, max_norm))


@trained("factor_twice")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you use `factor` twice, on the gradients and in the step

    optimizer.step multiplies by it: leave the gradients alone
    """
    clipped = clip(gradients, max_norm)
    optimizer.step({name: factor * g for name, g in clipped.items()}, factor)


@trained("always_of_the_longest_norm")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you bring all gradients to the norm max_norm, short ones too

    clip_gradients leaves short ones alone
    """
    norm = training.clip_gradients(gradients, max_norm)[1]
    longest = {name: g * max_norm / norm for name, g in gradients.items()}
    optimizer.step(longest, factor)


@trained("clipped_one_by_one")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you clip each array by itself, which turns the whole direction

    hand the whole dictionary to clip_gradients
    """
    own = {name: clip({name: g}, max_norm)[name] for name, g in gradients.items()}
    optimizer.step(own, factor)


@trained("values_clipped")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you cut off each value, which turns the direction

    ours.clip_gradients shortens all by one factor
    """
    cut = {name: np.clip(g, -max_norm, max_norm) for name, g in gradients.items()}
    optimizer.step(cut, factor)


@trained("loss_after")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you return the loss as it is after the change

    keep the one that came with the gradients
    """
    optimizer.step(clip(gradients, max_norm), factor)
    return look()[0]


@trained("norm_returned")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you return the norm of the gradients

    return the loss, the first that loss_and_gradients gives
    """
    clipped, norm = training.clip_gradients(gradients, max_norm)
    optimizer.step(clipped, factor)
    return norm


@trained("no_step")
def _(model, optimizer, look, gradients, factor, max_norm):
    """the parameters do not change

    call optimizer.step
    """


@trained("two_steps")
def _(model, optimizer, look, gradients, factor, max_norm):
    """the optimiser takes two steps

    call optimizer.step once
    """
    for _ in range(2):
        optimizer.step(clip(gradients, max_norm), factor)


@trained("without_the_optimizer")
def _(model, optimizer, look, gradients, factor, max_norm):
    """you change the parameters yourself, and the optimiser knows nothing of it

    optimizer.step has its own learning rate and remembers earlier gradients
    """
    clipped = clip(gradients, max_norm)
    for name, theta in parameters(model).items():
        theta -= optimizer.lr * factor * clipped[name]
