"""What goes wrong in chapter 08: the feed-forward network."""

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy import feed_forward as ours
from encoderlab.with_numpy.functional import gelu, linear, relu, softmax


class Steps(ours.FeedForward):
    """The book's network in steps, so that a mistake can replace one of them."""

    def __call__(self, x, *, rng=None):
        return self.second(self.drop(self.active(self.first(x)), rng))

    def first(self, x):
        return linear(x, self.W_1, self.b_1)

    def active(self, hidden):
        return ours.ACTIVATIONS[self.activation](hidden)

    def drop(self, hidden, rng):
        return ours.dropout(hidden, self.dropout, rng)

    def second(self, hidden):
        return linear(hidden, self.W_2, self.b_2)


@mistake(
    "FeedForward",
    "no_activation",
    "nothing stands between the two products: together they are a single one",
    "apply the activation to the hidden values",
)
class NoActivation(Steps):
    def active(self, hidden):
        return hidden


@mistake(
    "FeedForward",
    "activation_last",
    "you apply the activation after the second product",
    "it belongs between the two",
)
class ActivationLast(NoActivation):
    def second(self, hidden):
        return ours.ACTIVATIONS[self.activation](super().second(hidden))


@mistake(
    "FeedForward",
    "activation_twice",
    "you apply the activation after the second product as well",
    "the second product ends the network",
)
class ActivationTwice(Steps):
    def second(self, hidden):
        return ours.ACTIVATIONS[self.activation](super().second(hidden))


@mistake(
    "FeedForward",
    "always_gelu",
    "you use gelu whatever `activation` says",
    "keep the argument and look the function up by its name",
)
class AlwaysGelu(Steps):
    def active(self, hidden):
        return gelu(hidden)


@mistake(
    "FeedForward",
    "always_relu",
    "you use relu whatever `activation` says",
    "keep the argument and look the function up by its name; the default is gelu",
)
class AlwaysRelu(Steps):
    def active(self, hidden):
        return relu(hidden)


@mistake(
    "FeedForward",
    "tanh_for_gelu",
    "you use the tanh approximation for `gelu`, which is the exact one",
    "gelu_tanh has its own name",
)
class TanhForGelu(Steps):
    def active(self, hidden):
        name = "gelu_tanh" if self.activation == "gelu" else self.activation
        return ours.ACTIVATIONS[name](hidden)


@mistake(
    "FeedForward",
    "gelu_for_tanh",
    "you use the exact gelu for `gelu_tanh`",
    "gelu(x, approximate='tanh')",
)
class GeluForTanh(Steps):
    def active(self, hidden):
        name = "gelu" if self.activation == "gelu_tanh" else self.activation
        return ours.ACTIVATIONS[name](hidden)


@mistake(
    "FeedForward",
    "softmax",
    "you use softmax for the activation, which makes hidden values compete",
    "apply the named function to each value by itself",
)
class Softmax(Steps):
    def active(self, hidden):
        return softmax(hidden)


@mistake(
    "FeedForward",
    "mixes_tokens",
    "you flatten with the axes in another order, and tokens change places",
    "only the last axis is transformed: x @ W_1 needs no reshape",
)
class MixesTokens(Steps):
    def first(self, x):
        moved = np.moveaxis(x, 0, -2) if x.ndim > 2 else x
        return super().first(moved.reshape(x.shape))


@mistake(
    "FeedForward",
    "axes_flattened",
    "you return one list of tokens; the batch axes of x are lost",
    "restore the shape after the products, or do not flatten",
)
class AxesFlattened(Steps):
    def first(self, x):
        return super().first(x.reshape(-1, x.shape[-1]))


@mistake(
    "FeedForward",
    "first_bias_forgotten",
    "you leave b_1 out",
    "add it before the activation",
)
class FirstBiasForgotten(Steps):
    def first(self, x):
        return x @ self.W_1


@mistake(
    "FeedForward",
    "second_bias_forgotten",
    "you leave b_2 out",
    "add it after the second product",
)
class SecondBiasForgotten(Steps):
    def second(self, hidden):
        return hidden @ self.W_2


@mistake(
    "FeedForward",
    "first_bias_late",
    "you add b_1 after the activation",
    "the activation takes x W_1 + b_1",
)
class FirstBiasLate(FirstBiasForgotten):
    def active(self, hidden):
        return super().active(hidden) + self.b_1


@mistake(
    "FeedForward",
    "one_matrix_for_both",
    "you use the transpose of W_1 where W_2 belongs",
    "the second product has its own weights",
)
class OneMatrixForBoth(Steps):
    def second(self, hidden):
        return linear(hidden, self.W_1.T, self.b_2)


@mistake(
    "FeedForward",
    "residual_inside",
    "you add x to the result; the residual belongs to the encoder layer",
    "return the second product alone",
)
class ResidualInside(Steps):
    def __call__(self, x, *, rng=None):
        return x + super().__call__(x, rng=rng)


@mistake(
    "FeedForward",
    "dropout_without_rng",
    "dropout is active even without rng, in evaluation",
    "rng=None switches it off",
)
class DropoutWithoutRng(Steps):
    def drop(self, hidden, rng):
        return super().drop(hidden, rng or np.random.default_rng())


@mistake(
    "FeedForward",
    "dropout_forgotten",
    "nothing is ever dropped",
    "drop hidden values, after the activation, where rng is given",
)
class DropoutForgotten(Steps):
    def drop(self, hidden, rng):
        return hidden


@mistake(
    "FeedForward",
    "dropout_not_rescaled",
    "you do not divide what is kept by 1 - p, so the mean shrinks in training",
    "divide by 1 - p",
)
class DropoutNotRescaled(Steps):
    def drop(self, hidden, rng):
        scale = 1 if rng is None else 1 - self.dropout
        return scale * super().drop(hidden, rng)


@mistake(
    "FeedForward",
    "keeps_with_probability_p",
    "you keep with probability p; p is the probability of dropping",
    "keep where the random number is at least p",
)
class KeepsWithProbabilityP(Steps):
    def drop(self, hidden, rng):
        if rng is None or not self.dropout:
            return hidden
        return hidden * (rng.random(hidden.shape) < self.dropout) / self.dropout


@mistake(
    "FeedForward",
    "kept_wrongly_scaled",
    "you divide what is kept by p; its share is 1 - p",
    "divide by 1 - p",
)
class KeptWronglyScaled(Steps):
    def drop(self, hidden, rng):
        if rng is None or not self.dropout:
            return hidden
        return hidden * (rng.random(hidden.shape) >= self.dropout) / self.dropout


@mistake(
    "FeedForward",
    "scaled_in_evaluation",
    "you scale in evaluation too; 1 / (1 - p) in training is all that is needed",
    "without rng return the hidden values as they are",
)
class ScaledInEvaluation(Steps):
    def drop(self, hidden, rng):
        if rng is None:
            return hidden * (1 - self.dropout)
        return super().drop(hidden, rng)


@mistake(
    "FeedForward",
    "output_dropped",
    "you drop values of the output; here the hidden ones are dropped",
    "dropout stands after the activation",
)
class OutputDropped(DropoutForgotten):
    def __call__(self, x, *, rng=None):
        return ours.dropout(super().__call__(x), self.dropout, rng)


@mistake(
    "FeedForward",
    "input_dropped",
    "you drop values of the input; here the hidden ones are dropped",
    "dropout stands after the activation",
)
class InputDropped(DropoutForgotten):
    def __call__(self, x, *, rng=None):
        return super().__call__(ours.dropout(x, self.dropout, rng))


@mistake(
    "FeedForward",
    "dropped_before_the_activation",
    "you drop before the activation: what is kept is scaled, then bent",
    "dropout stands after the activation",
)
class DroppedBeforeTheActivation(Steps):
    def __call__(self, x, *, rng=None):
        return self.second(self.active(self.drop(self.first(x), rng)))


@mistake(
    "FeedForward",
    "one_mask_for_all_tokens",
    "you draw one set of dropped places and use it for every token",
    "draw as many numbers as there are hidden values: rng.random(hidden.shape)",
)
class OneMaskForAllTokens(Steps):
    def drop(self, hidden, rng):
        return hidden * super().drop(np.ones(hidden.shape[-1]), rng)


@mistake(
    "FeedForward",
    "own_seed",
    "you draw from a generator of your own: every call drops the same places",
    "use the rng that the call is given",
)
class OwnSeed(Steps):
    def drop(self, hidden, rng):
        return super().drop(hidden, rng and np.random.default_rng(0))


@mistake(
    "FeedForward",
    "dropped_twice",
    "you drop hidden values twice",
    "a single dropout, after the activation",
)
class DroppedTwice(Steps):
    def drop(self, hidden, rng):
        return super().drop(super().drop(hidden, rng), rng)


@mistake(
    "FeedForward",
    "one_array_for_both",
    "W_2 is a view of W_1: training one changes the other",
    "draw two arrays",
)
class OneArrayForBoth(Steps):
    def __init__(self, d_model, d_ff, **keywords):
        super().__init__(d_model, d_ff, **keywords)
        self.W_2 = self.W_1.T


@mistake(
    "FeedForward",
    "relu_by_default",
    "your default activation is relu; the signature says gelu",
    'activation="gelu" in the constructor',
)
class ReluByDefault(Steps):
    def __init__(self, d_model, d_ff, *, activation="relu", **keywords):
        super().__init__(d_model, d_ff, activation=activation, **keywords)


@mistake(
    "FeedForward",
    "constant_weights",
    "all weights start alike, so that all hidden values stay alike for ever",
    "draw them from rng",
)
class ConstantWeights(Steps):
    def __init__(self, d_model, d_ff, **keywords):
        super().__init__(d_model, d_ff, **keywords)
        self.W_1, self.W_2 = np.full_like(self.W_1, 0.1), np.full_like(self.W_2, 0.1)


@mistake(
    "FeedForward",
    "weights_not_from_rng",
    "the initial weights do not come from rng: two runs differ",
    "hand rng on to what draws them",
)
class WeightsNotFromRng(Steps):
    def __init__(self, d_model, d_ff, *, rng, **keywords):
        super().__init__(d_model, d_ff, rng=np.random.default_rng(), **keywords)


@mistake(
    "FeedForward",
    "unknown_activation_accepted",
    "you take an unknown activation for gelu",
    "raise ValueError unless the name is one of the four",
)
class UnknownActivationAccepted(Steps):
    def __init__(self, d_model, d_ff, *, activation="gelu", **keywords):
        known = activation if activation in ours.ACTIVATIONS else "gelu"
        super().__init__(d_model, d_ff, activation=known, **keywords)


@mistake(
    "FeedForward",
    "any_probability_accepted",
    "you accept a dropout outside [0, 1)",
    "raise ValueError: at 1 nothing would be left to scale",
)
class AnyProbabilityAccepted(Steps):
    def __init__(self, d_model, d_ff, *, dropout=0.0, **keywords):
        super().__init__(d_model, d_ff, dropout=min(max(dropout, 0), 0.9), **keywords)
