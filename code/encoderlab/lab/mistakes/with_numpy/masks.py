"""What goes wrong in chapter 04: padding, causal and additive masks."""

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy import masks as ours


@mistake(
    "padding_mask",
    "inverted",
    "you mark the padding; True means that a token may be attended to",
    "position < length",
)
def padding_mask_inverted(lengths, max_len):
    return ~ours.padding_mask(lengths, max_len)


@mistake(
    "padding_mask",
    "one_too_many",
    "you let the first padding position through: counting starts at 0",
    "position < length, not <=",
)
def padding_mask_off_by_one(lengths, max_len):
    right = ours.padding_mask(lengths, max_len)
    return right | (np.arange(max_len) == np.asarray(lengths)[:, None, None, None])


@mistake(
    "padding_mask",
    "no_axes",
    "you return (B, S); the scores have the axes (B, H, T, S)",
    "put an axis of size 1 in the place of H and of T: [:, None, None, :]",
)
def padding_mask_without_axes(lengths, max_len):
    return ours.padding_mask(lengths, max_len)[:, 0, 0]


@mistake(
    "padding_mask",
    "query_rows",
    "you hide queries; the mask must hide keys, the last axis",
    "[:, None, None, :] puts the positions last",
)
def padding_mask_on_query_rows(lengths, max_len):
    return np.swapaxes(ours.padding_mask(lengths, max_len), -1, -2)


@mistake(
    "padding_mask",
    "queries_and_keys",
    "you hide padded queries as well, which leaves rows with nothing allowed",
    "hide keys only: the axis of the queries has size 1",
)
def padding_mask_of_both(lengths, max_len):
    right = ours.padding_mask(lengths, max_len)
    return right & np.swapaxes(right, -1, -2)


@mistake(
    "padding_mask",
    "in_front",
    "you put the padding before the tokens; it comes after them",
    "position < length",
)
def padding_mask_in_front(lengths, max_len):
    return ours.padding_mask(lengths, max_len)[..., ::-1]


@mistake(
    "padding_mask",
    "batch_axis_moved",
    "the sequences stand on the axis of the heads or queries, not first",
    "[:, None, None, :] keeps B first",
)
def padding_mask_on_another_axis(lengths, max_len):
    return np.moveaxis(ours.padding_mask(lengths, max_len), 0, 2)


@mistake(
    "padding_mask",
    "longest_length",
    "you pad to the longest length; max_len says how long the mask is",
    "np.arange(max_len)",
)
def padding_mask_to_the_longest(lengths, max_len):
    return ours.padding_mask(lengths, max_len)[..., : max(lengths)]


@mistake(
    "padding_mask",
    "numbers",
    "you return 0 and 1; a mask is boolean, so that it cannot be misread",
    "a comparison gives booleans",
)
def padding_mask_of_numbers(lengths, max_len):
    return ours.padding_mask(lengths, max_len).astype(int)


@mistake(
    "padding_mask",
    "too_long_accepted",
    "a length above max_len goes through, though tokens would be lost",
    "raise ValueError where a length is above max_len",
)
def padding_mask_cutting_off(lengths, max_len):
    lengths = np.asarray(lengths)
    clipped = np.where(lengths > max_len, max_len, lengths).astype(lengths.dtype)
    return ours.padding_mask(clipped, max_len)


@mistake(
    "padding_mask",
    "negative_accepted",
    "a negative length goes through",
    "raise ValueError where a length is below 0",
)
def padding_mask_of_negative(lengths, max_len):
    lengths = np.asarray(lengths)
    return ours.padding_mask(np.where(lengths < 0, 0, lengths), max_len)


@mistake(
    "padding_mask",
    "unchecked",
    "you take any lengths and any max_len",
    "raise TypeError and ValueError as the docstring says",
)
def padding_mask_unchecked(lengths, max_len):
    return np.arange(max_len) < np.asarray(lengths)[:, None, None, None]


@mistake(
    "padding_mask",
    "fractions_accepted",
    "a length of 1.5 goes through",
    "raise TypeError unless np.issubdtype(lengths.dtype, np.integer)",
)
def padding_mask_of_fractions(lengths, max_len):
    return ours.padding_mask(np.ceil(lengths).astype(int), max_len)


@mistake(
    "causal_mask",
    "future",
    "you hide the past and show the future",
    "query i may attend to key j where j <= i: on and below the diagonal",
)
def causal_mask_of_the_future(T):
    return np.swapaxes(ours.causal_mask(T), -1, -2)


@mistake(
    "causal_mask",
    "inverted",
    "you mark what is forbidden; True means allowed",
    "True on and below the diagonal: np.tri or np.tril, not np.triu",
)
def causal_mask_inverted(T):
    return ~ours.causal_mask(T)


@mistake(
    "causal_mask",
    "no_diagonal",
    "a token may not attend to itself, and the first one to nothing",
    "j <= i, not j < i",
)
def causal_mask_without_diagonal(T):
    return ours.causal_mask(T) & ~np.eye(max(int(T), 0), dtype=bool)


@mistake(
    "causal_mask",
    "no_axes",
    "you return (T, T); the scores have the axes (B, H, T, S)",
    "put two axes of size 1 in front: [None, None]",
)
def causal_mask_without_axes(T):
    return ours.causal_mask(T)[0, 0]


@mistake(
    "causal_mask",
    "numbers",
    "you return 0 and 1; a mask is boolean",
    "dtype=bool",
)
def causal_mask_of_numbers(T):
    return ours.causal_mask(T).astype(float)


@mistake(
    "causal_mask",
    "additive",
    "you return 0 and -inf; a mask is boolean, and additive_mask converts it",
    "True where attention is allowed",
)
def causal_mask_to_add(T):
    return ours.additive_mask(ours.causal_mask(T), float)


@mistake(
    "causal_mask",
    "everything",
    "you let every token attend to every other, the future included",
    "True on and below the diagonal",
)
def causal_mask_of_everything(T):
    return np.ones_like(ours.causal_mask(T))


@mistake(
    "causal_mask",
    "diagonal_only",
    "you let each token attend to itself alone",
    "True below the diagonal as well",
)
def causal_mask_of_the_diagonal(T):
    return np.eye(ours.causal_mask(T).shape[-1], dtype=bool)[None, None]


@mistake(
    "causal_mask",
    "one_ahead",
    "you let each token see the next one as well",
    "j <= i, not j <= i + 1",
)
def causal_mask_one_ahead(T):
    return np.tri(*ours.causal_mask(T).shape[2:], 1, dtype=bool)[None, None]


@mistake(
    "causal_mask",
    "unchecked",
    "you accept a length of 0",
    "raise ValueError where T is below 1",
)
def causal_mask_unchecked(T):
    return np.tri(T, dtype=bool)[None, None]


@mistake(
    "causal_mask",
    "fraction_accepted",
    "you round a T that is not a whole number",
    "raise TypeError unless T is an integer",
)
def causal_mask_rounded(T):
    return ours.causal_mask(int(T))


def _filled(mask, dtype, kept, hidden):
    right = ours.additive_mask(mask, dtype)
    return np.where(right == 0, kept, hidden).astype(dtype)


@mistake(
    "additive_mask",
    "inverted",
    "you remove what is allowed; True means allowed and adds 0",
    "np.where(mask, 0, -inf), in this order",
)
def additive_mask_inverted(mask, dtype):
    return _filled(mask, dtype, -np.inf, 0.0)


@mistake(
    "additive_mask",
    "billion",
    "you add -1e9: hidden scores keep a trace, and a fully masked row looks uniform",
    "-np.inf",
)
def additive_mask_of_a_billion(mask, dtype):
    return _filled(mask, dtype, 0.0, -1e9)


@mistake(
    "additive_mask",
    "ten_thousand",
    "you add -1e4, which is too small beside large scores",
    "-np.inf",
)
def additive_mask_of_ten_thousand(mask, dtype):
    return _filled(mask, dtype, 0.0, -1e4)


@mistake(
    "additive_mask",
    "lowest_finite",
    "you add the lowest finite number; minus infinity is asked for",
    "-np.inf",
)
def additive_mask_of_the_lowest(mask, dtype):
    return _filled(mask, dtype, 0.0, np.finfo(dtype).min)


@mistake(
    "additive_mask",
    "sign_forgotten",
    "you add plus infinity: everything goes to what is hidden",
    "-np.inf",
)
def additive_mask_without_sign(mask, dtype):
    return _filled(mask, dtype, 0.0, np.inf)


@mistake(
    "additive_mask",
    "tiny",
    "you add 1e-9, which changes nothing",
    "the sign stands before the number, not in its exponent: -np.inf",
)
def additive_mask_of_almost_nothing(mask, dtype):
    return _filled(mask, dtype, 0.0, 1e-9)


@mistake(
    "additive_mask",
    "booleans",
    "you return 1 and 0: adding 1 to what is allowed hides nothing",
    "0 where the mask is True, -np.inf elsewhere",
)
def additive_mask_of_booleans(mask, dtype):
    return _filled(mask, dtype, 1.0, 0.0)


@mistake(
    "additive_mask",
    "zero_times_infinity",
    "you multiply by minus infinity: 0 times infinity is NaN",
    "np.where chooses, without a product",
)
def additive_mask_by_a_product(mask, dtype):
    return _filled(mask, dtype, np.nan, -np.inf)


@mistake(
    "additive_mask",
    "dtype_ignored",
    "you ignore `dtype`: float64 would make float32 scores float64",
    "hand dtype on: .astype(dtype)",
)
def additive_mask_in_float64(mask, dtype):
    return ours.additive_mask(mask, dtype).astype(np.float64)


@mistake(
    "additive_mask",
    "numbers_accepted",
    "you accept a mask of 0 and 1; it may as well mean the opposite",
    "raise TypeError unless mask.dtype is bool",
)
def additive_mask_of_numbers(mask, dtype):
    return ours.additive_mask(np.asarray(mask, bool), dtype)


@mistake(
    "additive_mask",
    "integer_dtype_accepted",
    "you accept an integer dtype, which has no infinity",
    "raise TypeError unless np.issubdtype(dtype, np.floating)",
)
def additive_mask_of_integers(mask, dtype):
    return np.where(ours.require_bool(mask), 0.0, -np.inf).astype(dtype)
