"""What goes wrong in chapters 02, 04 and 08: linear maps, softmax, activations."""

import numpy as np
from scipy.special import erf, expit

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy import functional as ours


@mistake(
    "linear",
    "weights_transposed",
    "you multiply by the transpose of W; W holds a column for each output",
    "x @ W: the last axis of x meets the rows of W",
)
def linear_by_the_transpose(x, W, b=None):
    return x @ W.T if b is None else x @ W.T + b


@mistake(
    "linear",
    "transposes_to_fit",
    "you transpose W when it does not fit, which hides a mix-up of its axes",
    "raise ValueError where the last axis of x is not the number of rows of W",
)
def linear_that_guesses(x, W, b=None):
    return ours.linear(x, W if x.shape[-1] == W.shape[0] else W.T, b)


@mistake(
    "linear",
    "bias_per_position",
    "you add one bias to each position; each output column has its own",
    "b has one value a column, so it goes along the last axis",
)
def linear_with_bias_per_position(x, W, b=None):
    return x @ W if b is None else x @ W + b[:, None]


@mistake(
    "linear",
    "bias_forgotten",
    "you leave the bias out",
    "add b to the product where it is given",
)
def linear_without_bias(x, W, b=None):
    return ours.linear(x, W)


@mistake(
    "linear",
    "bias_required",
    "you add b even if it is None",
    "ask for `b is None` before you add",
)
def linear_that_needs_a_bias(x, W, b=None):
    return x @ W + b


@mistake(
    "linear",
    "truth_of_an_array",
    "you write `if b`, but an array has no truth value of its own",
    "ask for `b is not None`",
)
def linear_asking_for_truth(x, W, b=None):
    return x @ W + b if b else x @ W


@mistake(
    "linear",
    "bias_before_the_product",
    "you add the bias to x, before the product",
    "the bias has the width of the output: it comes after x @ W",
)
def linear_with_early_bias(x, W, b=None):
    return x @ W if b is None else (x + b) @ W


@mistake(
    "linear",
    "vector_only",
    "you compute W.T @ x, which is right for a single vector and no batch",
    "x @ W maps the last axis, whatever stands before it",
)
def linear_of_a_vector(x, W, b=None):
    return W.T @ x if b is None else W.T @ x + b


@mistake(
    "linear",
    "integer_buffer",
    "your result has the dtype of x, so whole numbers cut off the fractions",
    "make the result of x @ W, not of an empty copy of x",
)
def linear_into_an_integer_buffer(x, W, b=None):
    return ours.linear(x, W, b).astype(x.dtype)


@mistake(
    "softmax",
    "no_shift",
    "you take exp of the scores as they are, which overflows for large ones",
    "subtract the largest score of each row first",
)
def softmax_without_shift(x, axis=-1):
    weights = np.exp(x)
    return weights / weights.sum(axis=axis, keepdims=True)


@mistake(
    "softmax",
    "axis_ignored",
    "you always work along the last axis, whatever `axis` says",
    "hand `axis` on to max and to sum",
)
def softmax_along_the_last_axis(x, axis=-1):
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


@mistake(
    "softmax",
    "always_axis_0",
    "you always work along axis 0, so columns sum to 1 and not rows",
    "hand `axis` on to max and to sum; its default is the last",
)
def softmax_along_axis_0(x, axis=-1):
    weights = np.exp(x - x.max(axis=0))
    return weights / weights.sum(axis=0)


@mistake(
    "softmax",
    "whole_array",
    "you divide by the sum over the whole array; each row must sum to 1",
    "sum needs `axis=axis, keepdims=True`",
)
def softmax_over_the_whole_array(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum()


@mistake(
    "softmax",
    "no_keepdims",
    "you drop the axis in the sum: another row's, or none, is divided by",
    "keepdims=True keeps each sum beside its own row",
)
def softmax_without_keepdims(x, axis=-1):
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis)


@mistake(
    "softmax",
    "global_max",
    "you subtract the largest score of all rows, so that small rows vanish",
    "each row needs its own maximum: axis=axis, keepdims=True",
)
def softmax_with_one_maximum(x, axis=-1):
    weights = np.exp(x - x.max())
    return weights / weights.sum(axis=axis, keepdims=True)


@mistake(
    "softmax",
    "mean_shift",
    "you subtract the mean; a score far above it still overflows",
    "subtract the largest score, then exp is at most 1",
)
def softmax_shifted_by_the_mean(x, axis=-1):
    weights = np.exp(x - x.mean(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


@mistake(
    "softmax",
    "changes_input",
    "you write into the caller's scores: `-=` works in place",
    "x = x - peak makes a new array",
)
def softmax_in_place(x, axis=-1):
    if x.dtype.kind == "i":
        x = x.astype(float)
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x


@mistake(
    "softmax",
    "no_exp",
    "you divide the scores by their sum, without exp",
    "take exp of the shifted scores before you sum",
)
def softmax_without_exp(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)


@mistake(
    "softmax",
    "sign_flipped",
    "the largest score gets the smallest weight: a sign is flipped",
    "score minus maximum, not maximum minus score",
)
def softmax_upside_down(x, axis=-1):
    return ours.softmax(-x, axis)


@mistake(
    "softmax",
    "integer_buffer",
    "your result has the dtype of the scores, so whole numbers give only 0 and 1",
    "convert the scores to float first",
)
def softmax_into_an_integer_buffer(x, axis=-1):
    return ours.softmax(x, axis).astype(x.dtype)


@mistake(
    "softmax",
    "sigmoid",
    "you squash each score by itself; the weights of a row must sum to 1",
    "divide by the sum over the row",
)
def softmax_by_sigmoid(x, axis=-1):
    return expit(x)


@mistake(
    "softmax",
    "logarithm",
    "you return the logarithm of the weights",
    "the weights are exp(shifted) / sum",
)
def softmax_in_logarithms(x, axis=-1):
    return ours.log_softmax(x, axis)


@mistake(
    "softmax",
    "not_normalised",
    "you stop after exp: the weights do not sum to 1",
    "divide by the sum along the axis",
)
def softmax_not_normalised(x, axis=-1):
    return np.exp(x - x.max(axis=axis, keepdims=True))


@mistake(
    "softmax",
    "power_of_two",
    "you raise 2 to the scores; softmax raises e",
    "np.exp, not np.exp2 or 2**x",
)
def softmax_of_base_2(x, axis=-1):
    return ours.softmax(x * np.log(2), axis)


@mistake(
    "log_softmax",
    "log_of_softmax",
    "you take the logarithm of weights that have rounded to 0",
    "log(exp(a) / s) is a - log(s): no exp is needed for the first term",
)
def log_of_softmax(x, axis=-1):
    return np.log(ours.softmax(x, axis))


@mistake(
    "log_softmax",
    "no_shift",
    "you take exp of the scores as they are, which overflows for large ones",
    "subtract the largest score of each row first",
)
def log_softmax_without_shift(x, axis=-1):
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


@mistake(
    "log_softmax",
    "shift_not_undone",
    "you shift inside the sum only: the maximum is missing outside",
    "subtract the log of the sum from the shifted scores, not from x",
)
def log_softmax_shifted_once(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@mistake(
    "log_softmax",
    "axis_ignored",
    "you always work along the last axis, whatever `axis` says",
    "hand `axis` on to max and to sum",
)
def log_softmax_along_the_last_axis(x, axis=-1):
    return ours.log_softmax(x)


@mistake(
    "log_softmax",
    "global_max",
    "you subtract the largest score of all rows, so that small rows vanish",
    "each row needs its own maximum: axis=axis, keepdims=True",
)
def log_softmax_with_one_maximum(x, axis=-1):
    shifted = x - x.max()
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@mistake(
    "log_softmax",
    "whole_array",
    "you sum over the whole array; each row has its own sum",
    "sum needs `axis=axis, keepdims=True`",
)
def log_softmax_over_the_whole_array(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum())


@mistake(
    "log_softmax",
    "no_keepdims",
    "you drop the axis in the sum: another row's, or none, is subtracted",
    "keepdims=True keeps each sum beside its own row",
)
def log_softmax_without_keepdims(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis))


@mistake(
    "log_softmax",
    "divided_by_the_log",
    "you divide by the logarithm of the sum; it is subtracted",
    "the logarithm of a quotient is a difference",
)
def log_softmax_divided(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted / np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@mistake(
    "log_softmax",
    "logarithm_forgotten",
    "you return the weights and not their logarithm",
    "subtract the log of the sum from the shifted scores",
)
def log_softmax_without_logarithm(x, axis=-1):
    return ours.softmax(x, axis)


@mistake(
    "log_softmax",
    "small_number_in_the_log",
    "you add a small number so that log(0) does not occur, and change the answer",
    "with shifted scores the sum is at least 1: nothing need be added",
)
def log_softmax_with_a_small_number(x, axis=-1):
    return np.log(ours.softmax(x, axis) + 1e-9)


@mistake(
    "log_softmax",
    "changes_input",
    "you write into the caller's scores: `-=` works in place",
    "x = x - peak makes a new array",
)
def log_softmax_in_place(x, axis=-1):
    if x.dtype.kind == "i":
        x = x.astype(float)
    x -= x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def _refused(scores, mask):
    ours.masked_softmax(scores, mask)  # raises what the book raises
    return ours.as_float(scores)


def _filled(scores, mask, axis, value):
    return ours.softmax(np.where(mask, _refused(scores, mask), value), axis)


@mistake(
    "masked_softmax",
    "inverted",
    "you hide what is allowed: True in the mask means that a score takes part",
    "np.where(mask, scores, -np.inf), in this order",
)
def masked_softmax_inverted(scores, mask, axis=-1):
    return ours.masked_softmax(scores, ~ours.require_bool(mask), axis)


@mistake(
    "masked_softmax",
    "mask_ignored",
    "the mask has no effect",
    "set the hidden scores to minus infinity before the softmax",
)
def masked_softmax_unmasked(scores, mask, axis=-1):
    return ours.softmax(_refused(scores, mask), axis)


@mistake(
    "masked_softmax",
    "multiplied_into_scores",
    "you multiply the scores by the mask: a score of 0 still gets weight, exp(0) = 1",
    "a hidden score must be minus infinity",
)
def masked_softmax_of_products(scores, mask, axis=-1):
    return ours.softmax(_refused(scores, mask) * mask, axis)


@mistake(
    "masked_softmax",
    "boolean_added",
    "you add the boolean mask: that adds 1 to what is allowed and hides nothing",
    "add 0 and minus infinity, or use np.where",
)
def masked_softmax_plus_boolean(scores, mask, axis=-1):
    return ours.softmax(_refused(scores, mask) + mask, axis)


@mistake(
    "masked_softmax",
    "fill_without_sign",
    "you fill with +1e9: all the weight goes to what is hidden",
    "the fill is minus infinity",
)
def masked_softmax_filled_with_plus(scores, mask, axis=-1):
    return _filled(scores, mask, axis, 1e9)


@mistake(
    "masked_softmax",
    "tiny_fill",
    "you fill with 1e-9 or 0, which is an ordinary score, not a very low one",
    "the fill is minus infinity; -1e9 has the sign before the 1",
)
def masked_softmax_filled_with_tiny(scores, mask, axis=-1):
    return _filled(scores, mask, axis, 1e-9)


@mistake(
    "masked_softmax",
    "fill_of_ten_thousand",
    "you fill with -1e4, which is above scores near -20000",
    "only minus infinity is below every score",
)
def masked_softmax_filled_with_ten_thousand(scores, mask, axis=-1):
    weights = _filled(scores, mask, axis, -1e4)
    return np.where(np.any(mask, axis, keepdims=True), weights, 0.0)


@mistake(
    "masked_softmax",
    "nothing_allowed_is_uniform",
    "a row with nothing allowed gets equal weights from a finite fill such as -1e9",
    "such a row must be all zeros",
)
def masked_softmax_filled_with_a_billion(scores, mask, axis=-1):
    return _filled(scores, mask, axis, -1e9)


@mistake(
    "masked_softmax",
    "nothing_allowed_is_nan",
    "a row with nothing allowed gives NaN: its maximum is -inf, and -inf + inf is NaN",
    "replace the maximum by 0 and the sum by 1 in such a row",
)
def masked_softmax_with_nan(scores, mask, axis=-1):
    return _filled(scores, mask, axis, -np.inf)


@mistake(
    "masked_softmax",
    "not_renormalised",
    "you mask after the softmax: the weights that remain no longer sum to 1",
    "mask the scores before the softmax",
)
def masked_softmax_masked_late(scores, mask, axis=-1):
    return ours.softmax(_refused(scores, mask), axis) * mask


@mistake(
    "masked_softmax",
    "query_rows",
    "you apply the mask along the queries; it hides keys, the last axis",
    "the mask's last axis goes with the scores' last axis",
)
def masked_softmax_of_query_rows(scores, mask, axis=-1):
    return ours.masked_softmax(scores, np.swapaxes(mask, -1, -2), axis)


@mistake(
    "masked_softmax",
    "zero_times_infinity",
    "you multiply (1 - mask) by minus infinity: 0 times infinity is NaN",
    "np.where chooses, without a product",
)
def masked_softmax_by_infinite_product(scores, mask, axis=-1):
    return ours.softmax(_refused(scores, mask) + (1 - mask) * -np.inf, axis)


@mistake(
    "masked_softmax",
    "billion_in_float16",
    "-1e9 in float16 is minus infinity, and 0 times that is NaN",
    "np.where with -np.inf works in every dtype",
)
def masked_softmax_by_half_product(scores, mask, axis=-1):
    shown = np.where(mask, _refused(scores, mask), 0).astype(scores.dtype)
    factor = np.asarray(~mask, shown.dtype if shown.dtype.kind == "f" else float)
    weights = ours.softmax(shown + factor * factor.dtype.type(-1e9), axis)
    return np.where(np.any(mask, axis, keepdims=True), weights, 0.0)


@mistake(
    "masked_softmax",
    "hidden_maximum",
    "your maximum looks at hidden scores too: beside a large one the others vanish",
    "take the maximum after hidden scores are set to minus infinity",
)
def masked_softmax_with_hidden_maximum(scores, mask, axis=-1):
    scores = _refused(scores, mask)
    weights = np.where(mask, np.exp(scores - scores.max(axis, keepdims=True)), 0)
    total = weights.sum(axis, keepdims=True)
    return weights / np.where(np.any(mask, axis, keepdims=True), total, 1)


@mistake(
    "masked_softmax",
    "no_shift",
    "you take exp of the scores as they are, which over- or underflows",
    "subtract the largest allowed score of each row first",
)
def masked_softmax_without_shift(scores, mask, axis=-1):
    weights = np.where(mask, np.exp(_refused(scores, mask)), 0)
    total = weights.sum(axis, keepdims=True)
    return weights / np.where(np.any(mask, axis, keepdims=True), total, 1)


@mistake(
    "masked_softmax",
    "added_to_hidden_nan",
    "you add -inf to the hidden scores, but NaN or inf plus -inf is NaN",
    "np.where replaces a hidden score, whatever it is",
)
def masked_softmax_added(scores, mask, axis=-1):
    scores = _refused(scores, mask) + np.where(mask, 0.0, -np.inf)
    weights = ours.softmax(scores, axis)
    return np.where(np.any(mask, axis, keepdims=True), weights, 0.0)


@mistake(
    "masked_softmax",
    "axis_ignored",
    "you always work along the last axis, whatever `axis` says",
    "hand `axis` on to max and to sum",
)
def masked_softmax_along_the_last_axis(scores, mask, axis=-1):
    return ours.masked_softmax(scores, mask)


@mistake(
    "masked_softmax",
    "numbers_taken_for_booleans",
    "you accept a mask of 0 and 1; it may as well mean the opposite",
    "raise TypeError unless mask.dtype is bool",
)
def masked_softmax_of_numbers(scores, mask, axis=-1):
    return ours.masked_softmax(scores, mask.astype(bool), axis)


@mistake(
    "masked_softmax",
    "mask_enlarges_scores",
    "a mask with more rows than the scores makes the result larger than they are",
    "np.broadcast_to(mask, scores.shape) raises ValueError there",
)
def masked_softmax_that_grows(scores, mask, axis=-1):
    scores = scores + np.zeros(np.shape(mask))
    return ours.masked_softmax(scores, mask, axis)


@mistake("relu", "absolute", "you flip negative values", "a negative value becomes 0")
def relu_by_absolute(x):
    return np.abs(x)


@mistake(
    "relu",
    "leaky",
    "you let a little of the negative values through, as a leaky ReLU",
    "a negative value becomes 0",
)
def relu_that_leaks(x):
    return np.where(x > 0, x, 0.01 * x)


@mistake(
    "relu",
    "step",
    "you return whether x is positive, and not x itself",
    "where x is positive the result is x",
)
def relu_as_a_step(x):
    return np.where(np.isnan(x), x, x > 0)


@mistake(
    "relu",
    "maximum_of_an_axis",
    "np.max(x, 0) takes the maximum along axis 0",
    "np.maximum compares with 0 value by value",
)
def relu_by_max(x):
    return np.max(x, 0)


@mistake(
    "relu",
    "changes_input",
    "you set values of the caller's array to 0",
    "np.maximum and np.where make a new array",
)
def relu_in_place(x):
    x[x < 0] = 0
    return x


@mistake(
    "relu",
    "sign_flipped",
    "you keep the negative values and not the positive ones",
    "the larger of x and 0",
)
def relu_upside_down(x):
    return np.minimum(x, 0.0)


@mistake(
    "relu",
    "hides_nan",
    "NaN becomes 0: `x > 0` is false for it, so a broken value goes unnoticed",
    "np.maximum hands NaN on",
)
def relu_that_hides_nan(x):
    return np.where(x > 0, x, 0.0)


@mistake(
    "relu",
    "cut_at_six",
    "you cut large values off, as ReLU6 does",
    "there is no upper bound",
)
def relu_cut_off(x):
    return np.clip(x, 0.0, 6.0)


@mistake(
    "silu",
    "sigmoid_alone",
    "you return the sigmoid and forget to multiply by x",
    "x * sigmoid(x)",
)
def silu_without_x(x):
    return expit(x)


@mistake(
    "silu",
    "sign_flipped",
    "the sigmoid has the wrong sign: it must grow with x",
    "1 / (1 + exp(-x)), with a minus in the exponent",
)
def silu_of_minus_x(x):
    return x * expit(-x)


@mistake(
    "silu",
    "overflows",
    "exp(x) / (1 + exp(x)) is inf / inf, NaN, for a large x",
    "1 / (1 + exp(-x)) stays finite",
)
def silu_that_overflows(x):
    return x * np.exp(x) / (1 + np.exp(x))


@mistake(
    "silu",
    "gelu",
    "you compute a GELU: silu multiplies by the plain sigmoid",
    "no factor stands before x in the sigmoid, and no erf",
)
def silu_by_gelu(x):
    return ours.gelu(x)


@mistake(
    "silu",
    "scaled_sigmoid",
    "you multiply x by 1.702 inside the sigmoid: that approximates the GELU",
    "sigmoid(x), without a factor",
)
def silu_with_a_factor(x):
    return x * expit(1.702 * x)


@mistake(
    "silu",
    "tanh",
    "you multiply by tanh(x) and not by the sigmoid",
    "1 / (1 + exp(-x)) is between 0 and 1",
)
def silu_by_tanh(x):
    return x * np.tanh(x)


@mistake("silu", "relu", "you compute a ReLU", "multiply x by the sigmoid of x")
def silu_by_relu(x):
    return ours.relu(x)


def _gelu(x, approximate, none=None, tanh=None):
    """The book's gelu, where neither form is replaced by a wrong result."""
    wrong = {"none": none, "tanh": tanh}.get(approximate)
    return ours.gelu(x, approximate) if wrong is None else wrong


def _by_tanh(x, inner):
    return 0.5 * x * (1 + np.tanh(inner))


ROOT = np.sqrt(2 / np.pi)


@mistake(
    "gelu",
    "tanh_for_exact",
    "you compute the tanh approximation where the exact form is asked for",
    "approximate='none' needs erf, or the normal distribution function",
)
def gelu_by_tanh_always(x, approximate="none"):
    return _gelu(x, approximate, none=ours.gelu_tanh(x))


@mistake(
    "gelu",
    "exact_for_tanh",
    "you ignore approximate='tanh' and compute the exact form",
    "look at `approximate` and choose the form by it",
)
def gelu_by_erf_always(x, approximate="none"):
    return _gelu(x, approximate, tanh=ours.gelu(x))


@mistake(
    "gelu",
    "no_root_of_two",
    "you take erf(x); the normal distribution function is made of erf(x / sqrt(2))",
    "divide x by sqrt(2) inside erf",
)
def gelu_without_root(x, approximate="none"):
    return _gelu(x, approximate, none=0.5 * x * (1 + erf(x)))


@mistake(
    "gelu",
    "no_half",
    "you forget the factor 1/2, so that the result is twice too large",
    "1 + erf goes from 0 to 2; a probability goes from 0 to 1",
)
def gelu_without_half(x, approximate="none"):
    return 2 * ours.gelu(x, approximate)


@mistake(
    "gelu",
    "relu",
    "you compute a ReLU",
    "multiply x by the normal distribution function of x",
)
def gelu_by_relu(x, approximate="none"):
    return _gelu(x, approximate, none=ours.relu(x), tanh=ours.relu(x))


@mistake(
    "gelu",
    "sigmoid_for_exact",
    "you use x * sigmoid(1.702 x), a rougher approximation",
    "the exact form needs erf",
)
def gelu_by_sigmoid(x, approximate="none"):
    return _gelu(x, approximate, none=x * expit(1.702 * x))


@mistake(
    "gelu",
    "silu",
    "you multiply by the sigmoid: that is silu",
    "the factor is the normal distribution function",
)
def gelu_by_silu(x, approximate="none"):
    return _gelu(x, approximate, none=ours.silu(x))


@mistake(
    "gelu",
    "x_forgotten",
    "you return the distribution function and forget to multiply by x",
    "x * Phi(x)",
)
def gelu_without_x(x, approximate="none"):
    return _gelu(x, approximate, none=0.5 * (1 + erf(x / np.sqrt(2))))


@mistake(
    "gelu",
    "density",
    "you multiply by the normal density; its integral, the distribution, is meant",
    "Phi(x) = (1 + erf(x / sqrt(2))) / 2",
)
def gelu_by_density(x, approximate="none"):
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    return _gelu(x, approximate, none=x * density)


@mistake(
    "gelu",
    "no_cube",
    "the cubic term is missing inside tanh",
    "x + 0.044715 * x**3",
)
def gelu_without_cube(x, approximate="none"):
    return _gelu(x, approximate, tanh=_by_tanh(x, ROOT * x))


@mistake(
    "gelu",
    "cube_outside_the_root",
    "sqrt(2 / pi) multiplies x alone; the cubic term belongs inside its bracket",
    "sqrt(2 / pi) * (x + 0.044715 * x**3)",
)
def gelu_with_a_stray_cube(x, approximate="none"):
    inner = ROOT * x + 0.044715 * x**3
    return _gelu(x, approximate, tanh=_by_tanh(x, inner))


@mistake(
    "gelu",
    "root_forgotten_in_tanh",
    "the factor sqrt(2 / pi) is missing inside tanh",
    "sqrt(2 / pi) * (x + 0.044715 * x**3)",
)
def gelu_without_the_factor(x, approximate="none"):
    return _gelu(x, approximate, tanh=_by_tanh(x, x + 0.044715 * x**3))


@mistake(
    "gelu",
    "unknown_name_accepted",
    "you take every other name for one of the two forms",
    "raise ValueError unless approximate is 'none' or 'tanh'",
)
def gelu_without_a_check(x, approximate="none"):
    return ours.gelu(x, approximate if approximate == "tanh" else "none")


@mistake(
    "gelu",
    "tanh_by_default",
    "you compute the tanh approximation unless told otherwise",
    'the default is approximate="none", the exact form',
)
def gelu_with_another_default(x, approximate="tanh"):
    return ours.gelu(x, approximate)


@mistake(
    "gelu",
    "square_for_cube",
    "you square x inside tanh; the term is a cube",
    "x + 0.044715 * x**3",
)
def gelu_with_a_square(x, approximate="none"):
    inner = ROOT * (x + 0.044715 * x**2)
    return _gelu(x, approximate, tanh=_by_tanh(x, inner))
