"""What goes wrong in the exercises that ask for no part of the package."""

import math
from collections.abc import Callable

import numpy as np

from encoderlab import along_the_way
from encoderlab.lab.mistakes import mistake
from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_numpy import training
from encoderlab.with_numpy.encoder import TextEncoder
from encoderlab.with_numpy.parameters import count, parameters


def shapes_but(**changes):
    """The right shapes but for those that are changed here."""

    def encoder_shapes(B, T, D, H):
        right = along_the_way.encoder_shapes(B, T, D, H)
        return right | {name: new(B, T, D, H) for name, new in changes.items()}

    return encoder_shapes


for _name, _says, _hint, _changes in (
    (
        "a_vector_for_an_id",
        "you give the token ids the axis of the vectors",
        "an id is one whole number: the vectors come from the embedding",
        {"token_ids": lambda B, T, D, H: (B, T, D)},
    ),
    (
        "no_axis_of_heads",
        "you leave the heads out of scores and weights",
        "each head compares every query with every key for itself",
        dict.fromkeys(("scores", "weights"), lambda B, T, D, H: (B, T, T)),
    ),
    (
        "heads_first",
        "you put the heads before the texts",
        "the axes of the scores are text, head, query, key",
        dict.fromkeys(("scores", "weights"), lambda B, T, D, H: (H, B, T, T)),
    ),
    (
        "heads_last",
        "you put the heads after queries and keys",
        "the axes of the scores are text, head, query, key",
        dict.fromkeys(("scores", "weights"), lambda B, T, D, H: (B, T, T, H)),
    ),
    (
        "scores_of_vectors",
        "you give the scores the shape of the heads' vectors",
        "a score is one number for a query and a key",
        dict.fromkeys(("scores", "weights"), lambda B, T, D, H: (B, H, T, D // H)),
    ),
    (
        "weights_summed_up",
        "you let softmax take an axis away",
        "softmax keeps the shape: it only makes each row sum to 1",
        {"weights": lambda B, T, D, H: (B, H, T)},
    ),
    (
        "one_vector_a_text",
        "you let the encoder return one vector a text",
        "an encoder returns one vector for each token",
        {"output": lambda B, T, D, H: (B, D)},
    ),
    (
        "output_in_heads",
        "you leave the output cut into heads",
        "the heads' results are joined again before a layer ends",
        {"output": lambda B, T, D, H: (B, H, T, D // H)},
    ),
    (
        "tokens_first",
        "you put the tokens before the texts",
        "here the batch comes first; some libraries differ",
        {
            "token_ids": lambda B, T, D, H: (T, B),
            "x": lambda B, T, D, H: (T, B, D),
            "output": lambda B, T, D, H: (T, B, D),
        },
    ),
):
    _target = shapes_but(**_changes)
    _target.__module__ = __name__
    mistake("encoder_shapes", _name, _says, _hint)(_target)


@wrong("reach")
def one_layer_only(mask, num_layers):
    """you do as if there were one layer, however many there are

    repeat the step: what a token knows after one layer travels on in the next
    """
    return along_the_way.reach(mask, min(num_layers, 1))


@wrong("reach")
def no_residual(mask, num_layers):
    """you forget that a token keeps what it knows

    add what is known before the layer to what the layer brings
    """
    known = np.eye(len(mask), dtype=bool)
    for _ in range(num_layers):
        known = mask @ known
    return known


@wrong("reach")
def against_the_arrows(mask, num_layers):
    """you let knowledge flow from the query to the key

    mask[t, s] brings what s knows to t: mask @ known, not mask.T @ known
    """
    return along_the_way.reach(mask.T, num_layers)


@wrong("reach")
def itself_forgotten(mask, num_layers):
    """you start from nothing instead of from itself

    after no layer each token knows of itself: start with the identity
    """
    known = mask & (num_layers > 0)
    for _ in range(num_layers - 1):
        known = known | (mask @ known)
    return known


@wrong("reach")
def one_layer_more(mask, num_layers):
    """you go through one layer too many

    with num_layers = 0 the answer is the identity
    """
    return along_the_way.reach(mask, num_layers + 1)


@wrong("reach")
def one_layer_less(mask, num_layers):
    """you go through one layer too few

    with num_layers = 1 a token knows of those that it attends to
    """
    return along_the_way.reach(mask, max(num_layers - 1, 0))


@wrong("reach")
def all_at_once(mask, num_layers):
    """you let knowledge run through all tokens within one layer

    in one layer a token gets what the others knew before this layer
    """
    known = np.eye(len(mask), dtype=bool)
    for _ in range(num_layers):
        for t in range(len(mask)):
            known[t] |= (mask[t][:, None] & known).any(axis=0)
    return known


@wrong("reach")
def squared_each_layer(mask, num_layers):
    """you double the number of steps in each layer

    in each layer one step is added: multiply by the mask, not by what is known
    """
    known = np.eye(len(mask), dtype=bool)
    for _ in range(num_layers):
        step = known | mask
        known = step @ step if known[~np.eye(len(mask), dtype=bool)].any() else step
    return known


@wrong("reach")
def counts_of_ways(mask, num_layers):
    """you return numbers, not booleans

    the number of ways is more than is asked: compare it with 0
    """
    return np.linalg.matrix_power(mask + np.eye(len(mask), dtype=int), num_layers)


def embedded(position=None, segment=True, scale=1.0, norm_parts=False, checked=True):
    """Embed with one thing changed."""

    def embed(token_ids, segment_ids, W_token, W_position, W_segment, norm):
        if checked:
            along_the_way.embed(
                token_ids, segment_ids, W_token, W_position, W_segment, norm
            )
        places = (
            W_position[: token_ids.shape[1]]
            if position is None
            else (position(W_position, token_ids))
        )
        x = scale * W_token[token_ids] + places
        if norm_parts:
            return norm(x) + W_segment[segment_ids]
        return norm(x + W_segment[segment_ids] if segment else x)

    return embed


for _name, _says, _hint, _changes in (
    (
        "no_positions",
        "you leave the positions out",
        "without them the encoder is blind to order: add W_position[:T]",
        {"position": lambda table, ids: 0.0},
    ),
    (
        "no_segments",
        "you leave the segments out",
        "add W_segment[segment_ids]",
        {"segment": False},
    ),
    (
        "positions_from_1",
        "you count the positions from 1",
        "the first token has position 0",
        {
            "position": lambda table, ids: np.roll(table, -1, axis=0)[: ids.shape[1]],
        },
    ),
    (
        "positions_by_id",
        "you look the positions up by token id",
        "the position is the place in the sequence, not the token",
        {"position": lambda table, ids: table[ids % len(table)]},
    ),
    (
        "one_position_for_all",
        "you give every token the last position, table[T - 1]",
        "take the first T rows of the table, table[:T]",
        {"position": lambda table, ids: table[ids.shape[1] - 1]},
    ),
    (
        "scaled_by_root_d",
        "you multiply the tokens' vectors by the root of the width",
        "the first transformer does so; in this equation nothing is scaled",
        {"scale": math.sqrt(8)},
    ),
    (
        "segments_after_the_norm",
        "you add the segments after the norm",
        "the norm comes last, on the whole sum",
        {"norm_parts": True},
    ),
    (
        "unchecked",
        "you do not check the ids and the length",
        "NumPy takes -1 for the last row: compare with 0 and the rows of each table",
        {"checked": False},
    ),
):
    _target = embedded(**_changes)
    _target.__module__ = __name__
    mistake("embed", _name, _says, _hint)(_target)


@wrong("embed")
def no_norm(token_ids, segment_ids, W_token, W_position, W_segment, norm):
    """you do not normalise the sum

    call norm with it
    """
    return along_the_way.embed(
        token_ids, segment_ids, W_token, W_position, W_segment, lambda x: x
    )


@wrong("embed")
def added_in_place(token_ids, segment_ids, W_token, W_position, W_segment, norm):
    """you add into a table

    make a new array: x = x + ..., on what the lookup gave you
    """
    right = along_the_way.embed(
        token_ids, segment_ids, W_token, W_position, W_segment, norm
    )
    W_position[: token_ids.shape[1]] += W_segment[segment_ids[0]]
    return right


@wrong("is_position_wise")
def by_shuffling(f, x):
    """you only look whether shuffled tokens give shuffled results

    attention passes that: ask too whether a token alone gives the same result
    """
    order = np.roll(np.arange(len(x)), 2)
    return np.allclose(f(x)[order], f(x[order]))


@wrong("is_position_wise")
def first_token_only(f, x):
    """you look at the first token alone

    what is wrong may show at another position: compare all of them
    """
    return np.allclose(f(x)[:1], f(x[:1]))


@wrong("is_position_wise")
def last_token_only(f, x):
    """you look at the last token alone

    what is wrong may show at another position: compare all of them
    """
    return np.allclose(f(x)[-1:], f(x[-1:]))


@wrong("is_position_wise")
def later_tokens_changed(f, x):
    """you change the last token and look whether those before it move

    a sum that runs forward passes that, and a factor for each position too
    """
    other = x.copy()
    other[-1] += 1
    return np.allclose(f(x)[:-1], f(other)[:-1])


@wrong("is_position_wise")
def each_other_changed(f, x):
    """you change one token after another, and do not ask whether positions matter

    a factor for each position depends on no other token: try a token alone as well
    """
    same = True
    for t in range(len(x)):
        other = x.copy()
        other[t] += 1
        rest = np.arange(len(x)) != t
        same &= np.allclose(f(x)[rest], f(other)[rest])
    return same


@wrong("is_position_wise")
def compares_exactly(f, x):
    """you compare to the last bit, and sums may be rounded otherwise

    compare with a tolerance, np.allclose
    """
    alone = np.concatenate([f(row[None]) for row in x])
    return np.array_equal(f(x), alone)


@wrong("is_position_wise")
def with_itself(f, x):
    """you compare f with itself on the same input

    compare what f gives for all tokens with what it gives for each alone
    """
    return np.allclose(f(x), f(x.copy()))


@wrong("is_position_wise")
def answer_reversed(f, x):
    """you return True where a token depends on the others

    True means position-wise
    """
    return not along_the_way.is_position_wise(f, x)


@wrong("dropout_backward")
def mask_forgotten(d_y, kept, p):
    """you let the gradient through to what was dropped

    what was dropped did not reach the output: its gradient is 0
    """
    return d_y / (1 - p)


@wrong("dropout_backward")
def scale_forgotten(d_y, kept, p):
    """you forget the factor of the survivors

    they were divided by 1 - p on the way forward, so is their gradient
    """
    return d_y * kept


@wrong("dropout_backward")
def scaled_the_other_way(d_y, kept, p):
    """you multiply by 1 - p

    the factor is the same on both ways: divide by 1 - p
    """
    return d_y * kept * (1 - p)


@wrong("dropout_backward")
def divided_by_p(d_y, kept, p):
    """you divide by p, the probability of dropping

    divide by that of keeping, 1 - p
    """
    return d_y * kept / (p or 1.0)


@wrong("dropout_backward")
def dropped_kept(d_y, kept, p):
    """you take kept for the places that were dropped

    kept is True where a number survived
    """
    return d_y * ~kept / (1 - p)


@wrong("dropout_backward")
def into_the_upstream(d_y, kept, p):
    """you write into the gradient that you were given

    make a new array
    """
    d_y *= kept / (1 - p)
    return d_y


@wrong("dropout_backward")
def drawn_anew(d_y, kept, p):
    """you draw a new mask on the way back

    it must be the mask of the way forward: use kept
    """
    return d_y * (np.random.default_rng(0).random(d_y.shape) >= p) / (1 - p)


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
