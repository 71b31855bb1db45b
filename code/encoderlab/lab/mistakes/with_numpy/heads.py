"""What goes wrong with a classifier on top of an encoder."""

from copy import deepcopy

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_numpy import heads as ours
from encoderlab.with_numpy.functional import linear, relu, softmax


@wrong("TokenClassifier", "no_bias")
class WithoutBias(ours.TokenClassifier):
    """you do not add the bias

    hand `self.b` on to linear
    """

    def __call__(self, *inputs, **options):
        return super().__call__(*inputs, **options) - self.b


@wrong("TokenClassifier", "probabilities")
class Probabilities(ours.TokenClassifier):
    """you return probabilities

    logits are asked for: the loss takes the softmax itself
    """

    def __call__(self, *inputs, **options):
        return softmax(super().__call__(*inputs, **options))


@wrong("TokenClassifier", "relu_at_the_end")
class Positive(ours.TokenClassifier):
    """you put the scores through an activation

    the map is linear: scores may be negative
    """

    def __call__(self, *inputs, **options):
        return relu(super().__call__(*inputs, **options))


@wrong("TokenClassifier", "first_token")
class FirstToken(ours.TokenClassifier):
    """you score the first token alone

    each token has its own scores
    """

    def __call__(self, *inputs, **options):
        return super().__call__(*inputs, **options)[:, 0]


@wrong("TokenClassifier", "first_token_for_all")
class FirstTokenForAll(ours.TokenClassifier):
    """you give every token the scores of the first one

    take the vector of each token, not the class token's
    """

    def __call__(self, *inputs, **options):
        logits = super().__call__(*inputs, **options)
        return np.broadcast_to(logits[:, :1], logits.shape)


@wrong("TokenClassifier", "mean_of_tokens")
class MeanOfTokens(ours.TokenClassifier):
    """you score the mean of all tokens

    each token has its own scores
    """

    def __call__(self, *inputs, **options):
        return super().__call__(*inputs, **options).mean(axis=1)


@wrong("TokenClassifier", "options_dropped")
class OptionsDropped(ours.TokenClassifier):
    """you do not hand the options on to the encoder: its mask is lost

    call the encoder with `*inputs, **options`
    """

    def __call__(self, *inputs, **options):
        return super().__call__(*inputs)


@wrong("TokenClassifier", "first_input_only")
class FirstInputOnly(ours.TokenClassifier):
    """you hand only the first input on to the encoder: a mask that follows is lost

    call the encoder with `*inputs, **options`
    """

    def __call__(self, *inputs, **options):
        return super().__call__(inputs[0], **options)


@wrong("TokenClassifier", "transposed")
class Transposed(ours.TokenClassifier):
    """your W has one row for each class

    the book's W has one row for each input, (D, num_classes)
    """

    def __init__(self, encoder, num_classes, *, rng):
        super().__init__(encoder, num_classes, rng=rng)
        self.W = self.W.T

    def __call__(self, *inputs, **options):
        hidden = self.encoder(*inputs, **options).last_hidden_state
        return linear(hidden, self.W.T, self.b)


@wrong("TokenClassifier", "copied")
class Copied(ours.TokenClassifier):
    """you copy the encoder: training the model leaves the one you were given as it is

    keep the encoder itself
    """

    def __init__(self, encoder, num_classes, *, rng):
        super().__init__(deepcopy(encoder), num_classes, rng=rng)


@wrong("TokenClassifier", "before_the_norm")
class BeforeTheNorm(ours.TokenClassifier):
    """you take the last layer's vectors from the trace, before the final norm

    `last_hidden_state` is what the encoder returns
    """

    def __call__(self, *inputs, **options):
        states = self.encoder(*inputs, **options, trace=True).hidden_states
        return linear(states[-1], self.W, self.b)


@wrong("TokenClassifier", "embeddings")
class Embeddings(ours.TokenClassifier):
    """you score the vectors that enter the encoder

    `last_hidden_state` is what leaves it
    """

    def __call__(self, *inputs, **options):
        states = self.encoder(*inputs, **options, trace=True).hidden_states
        return linear(states[0], self.W, self.b)


@wrong("TokenClassifier", "zero_weights")
class ZeroWeights(ours.TokenClassifier):
    """you start with weights of 0: the encoder gets no gradient in the first step

    draw W from rng
    """

    def __init__(self, encoder, num_classes, *, rng):
        super().__init__(encoder, num_classes, rng=rng)
        self.W = np.zeros_like(self.W)


@wrong("TokenClassifier", "rng_ignored")
class OwnGenerator(ours.TokenClassifier):
    """you draw W from a generator of your own

    use `rng`, so that a run can be repeated and another one differs
    """

    def __init__(self, encoder, num_classes, *, rng):
        super().__init__(encoder, num_classes, rng=np.random.default_rng(0))


@wrong("TokenClassifier", "no_classes")
class NoClasses(ours.TokenClassifier):
    """you accept a number of classes below 1

    raise ValueError
    """

    def __init__(self, encoder, num_classes, *, rng):
        super().__init__(encoder, max(num_classes, 1), rng=rng)
        self.W, self.b = self.W[:, :num_classes], self.b[:num_classes]
