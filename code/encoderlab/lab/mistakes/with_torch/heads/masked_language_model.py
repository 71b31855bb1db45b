"""What goes wrong with the head that guesses tokens."""

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import heads as ours
from encoderlab.with_torch.feed_forward import ACTIVATIONS
from encoderlab.with_torch.functional import gelu, gelu_tanh, relu
from encoderlab.with_torch.normalization import LayerNorm
from encoderlab.with_torch.parameters import new_linear

here = wrong("MaskedLanguageModel")


class Guess(ours.MaskedLanguageModel):
    """The head in steps: ``read``, ``prepare``, ``activate``, ``score``."""

    def forward(self, *inputs, **options):
        """Read the text and score every position."""
        return self.decode(self.read(*inputs, **options))

    def read(self, *inputs, **options):
        """The encoder's vectors."""
        return self.encoder(*inputs, **options).last_hidden_state

    def decode(self, states):
        """Score some vectors."""
        return self.score(self.prepare(states))

    def prepare(self, states):
        """Map, bend and normalise them."""
        return self.norm(self.activate(self.transform(states)))

    def activate(self, hidden):
        """The encoder's activation."""
        return ACTIVATIONS[self.encoder.config.activation](hidden)

    def score(self, hidden):
        """Compare with each token's vector."""
        return hidden @ self.table.T + self.bias

    @property
    def table(self):
        """The token embeddings."""
        return self.encoder.embeddings.token.weight


@here
class OwnDecoder(Guess):
    """your decoder has a table of its own

    self.encoder.embeddings.token.weight serves both ends
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        self.decoder = nn.Linear(*self.table.T.shape, bias=False)

    def score(self, hidden):
        return self.decoder(hidden) + self.bias


@here
class TableCopied(Guess):
    """you copy the table of embeddings: the copy stays as it was

    tied means the same tensor; take the weight itself
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        self.copied = self.table.detach().clone()

    def score(self, hidden):
        return hidden @ self.copied.T + self.bias


@here
class TableDetached(Guess):
    """no gradient goes from the scores into the table: it is detached, or its `.data`

    it learns from both of its uses
    """

    def score(self, hidden):
        return hidden @ self.table.detach().T + self.bias


@here
class TableReplaced(Guess):
    """you put a new decoder's weight in the place of the table: what it held is lost

    tie the other way round: the encoder may be trained already
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        self.decoder = nn.Linear(*self.table.T.shape, bias=False).to(self.table)
        encoder.embeddings.token.weight = self.decoder.weight


@here
class TableMadeAnew(Guess):
    """you give the encoder a new table of the same numbers

    an optimiser that was made before would go on with the old one
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        table = nn.Parameter(self.table.detach().clone())
        encoder.embeddings.token.weight = table


@here
class TransformOfZeros(Guess):
    """your transform begins with zeros: no gradient gets through to the encoder

    nn.Linear draws its weights itself
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        nn.init.zeros_(self.transform.weight)


@here
class PositionsForTokens(Guess):
    """you compare with the vectors of the positions

    scores are asked for tokens: embeddings.token
    """

    def score(self, hidden):
        scores = hidden @ self.encoder.embeddings.position.weight.T
        return F.pad(scores, (0, len(self.bias) - scores.shape[-1])) + self.bias


@here
class NoTransform(Guess):
    """you leave out the transform, the activation and the norm

    transform, activation, norm, and only then the table
    """

    def prepare(self, states):
        return states + 0 * self.norm(self.transform(states))


@here
class NoMap(Guess):
    """you leave out the map: the encoder's vectors enter the activation as they are

    self.transform comes first
    """

    def prepare(self, states):
        return self.norm(self.activate(states + 0 * self.transform(states)))


@here
class NoActivation(Guess):
    """you leave out the activation

    it stands between the transform and the norm
    """

    def activate(self, hidden):
        return hidden


@here
class NoNorm(Guess):
    """you do not normalise

    self.norm comes after the activation
    """

    def prepare(self, states):
        hidden = self.activate(self.transform(states))
        return hidden + 0 * self.norm(hidden)


@here
class NormBeforeTheActivation(Guess):
    """you normalise before the activation

    first the activation, then the norm
    """

    def prepare(self, states):
        return self.activate(self.norm(self.transform(states)))


@here
class NormFirst(Guess):
    """you normalise before the transform

    transform, activation, norm
    """

    def prepare(self, states):
        return self.activate(self.transform(self.norm(states)))


@here
class ActivationFirst(Guess):
    """you take the activation of the encoder's vectors, before the transform

    transform, activation, norm
    """

    def prepare(self, states):
        return self.norm(self.transform(self.activate(states)))


@here
class Residual(Guess):
    """you add the encoder's vectors to what the transform makes of them

    the head is no encoder layer: nothing is added
    """

    def prepare(self, states):
        return self.norm(states + self.activate(self.transform(states)))


@here
class AlwaysGelu(Guess):
    """your activation is always the exact GELU

    ACTIVATIONS[encoder.config.activation]
    """

    def activate(self, hidden):
        return gelu(hidden)


@here
class AlwaysGeluTanh(Guess):
    """your activation is always GELU's approximation by tanh

    ACTIVATIONS[encoder.config.activation]
    """

    def activate(self, hidden):
        return gelu_tanh(hidden)


@here
class AlwaysRelu(Guess):
    """your activation is always ReLU

    ACTIVATIONS[encoder.config.activation]
    """

    def activate(self, hidden):
        return relu(hidden)


@here
class Tanh(Guess):
    """your activation is tanh, as in BERT's pooler

    ACTIVATIONS[encoder.config.activation]
    """

    def activate(self, hidden):
        return hidden.tanh()


@here
class EpsByDefault(Guess):
    """your norm does not get config.eps

    LayerNorm(config.d_model, config.eps)
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        self.norm.eps = 1e-5


@here
class NormShared(Guess):
    """you use the encoder's final norm once more

    the head has a LayerNorm of its own
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        self.norm = encoder.final_norm or encoder.layers[-1].norm_2


@here
class NoBias(Guess):
    """you do not add the bias

    one number for each token: hand self.bias on to F.linear
    """

    def score(self, hidden):
        return super().score(hidden) - self.bias


@here
class BiasOfTheWidth(Guess):
    """your bias has one number for each coordinate

    one for each token of the vocabulary: torch.zeros(config.vocab_size)
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        self.bias = nn.Parameter(torch.zeros(encoder.config.d_model))

    def score(self, hidden):
        return (hidden + self.bias) @ self.table.T


@here
class BiasNotLearnt(Guess):
    """your bias is a plain tensor: it would never be trained

    nn.Parameter(…)
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        del self.bias
        self.bias = torch.zeros(encoder.config.vocab_size)


@here
class TransformWithoutBias(Guess):
    """your transform has no bias

    nn.Linear has one unless it is told otherwise
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        D = encoder.config.d_model
        self.transform = nn.Linear(D, D, bias=False)


@here
class WideTransform(Guess):
    """your transform is as wide as the feed-forward network

    a map (D, D)
    """

    def __init__(self, encoder):
        super().__init__(encoder)
        config, width = encoder.config, encoder.config.d_ff
        self.transform = new_linear(config.d_model, width)
        self.norm = LayerNorm(width, config.eps)


@here
class Transposed(Guess):
    """you multiply by the transform's weight as it stands

    an nn.Linear keeps a row for each output: call it, or multiply by weight.T
    """

    def prepare(self, states):
        hidden = states @ self.transform.weight + self.transform.bias
        return self.norm(self.activate(hidden))


@here
class Scaled(Guess):
    """you divide the scores by √d

    attention does so; these are logits as they are
    """

    def score(self, hidden):
        return hidden @ self.table.T / hidden.shape[-1] ** 0.5 + self.bias


@here
class Cosines(Guess):
    """you bring the table's vectors to length 1

    the products are taken as they are
    """

    def score(self, hidden):
        return hidden @ F.normalize(self.table, dim=-1).T + self.bias


@here
class TableNormalised(Guess):
    """you normalise the table as the encoder's embeddings are

    the rows of embeddings.token.weight are taken as they are
    """

    def score(self, hidden):
        return hidden @ self.encoder.embeddings.norm(self.table).T + self.bias


@here
class FirstToken(Guess):
    """you score the first position alone

    every position has its own scores
    """

    def read(self, *inputs, **options):
        return super().read(*inputs, **options)[:, 0]


@here
class BeforeTheNorm(Guess):
    """you take the last layer's vectors from the trace, before the final norm

    `last_hidden_state` is what the encoder returns
    """

    def read(self, *inputs, **options):
        return self.encoder(*inputs, **options, trace=True).hidden_states[-1]


@here
class EmbeddingsGuess(Guess):
    """you score the vectors that enter the encoder

    `last_hidden_state` is what leaves it
    """

    def read(self, *inputs, **options):
        return self.encoder(*inputs, **options, trace=True).hidden_states[0]


@here
class EncoderFrozen(Guess):
    """the encoder gets no gradient: its vectors are detached

    it is trained with the head
    """

    def read(self, *inputs, **options):
        with torch.no_grad():
            return super().read(*inputs, **options)


@here
class DecodeMissing(ours.MaskedLanguageModel):
    """your model has no `decode`

    a loss may ask for the hidden positions alone
    """

    decode = None

    def forward(self, *inputs, **options):
        states = self.encoder(*inputs, **options).last_hidden_state
        return ours.MaskedLanguageModel.decode(self, states)


@here
class DecodeIsTheTable(Guess):
    """your `decode` is the last step alone; transform and norm are done in `forward`

    decode takes vectors of the encoder
    """

    def read(self, *inputs, **options):
        return self.prepare(super().read(*inputs, **options))

    def decode(self, states):
        return self.score(states)


@here
class Dropped(Guess):
    """you drop values of the head

    dropout is in the encoder alone
    """

    def prepare(self, states):
        hidden = super().prepare(states)
        return F.dropout(hidden, self.encoder.config.dropout, self.training)


@here
class ScoresDropped(Guess):
    """you drop scores in training

    dropout is in the encoder alone
    """

    def forward(self, *inputs, **options):
        scores = super().forward(*inputs, **options)
        return F.dropout(scores, self.encoder.config.dropout, self.training)
