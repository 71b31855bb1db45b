"""What goes wrong with the stack and the encoder of texts in PyTorch."""

from copy import deepcopy

import torch
from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import encoder as ours
from encoderlab.with_torch.normalization import LayerNorm

stack = wrong("Encoder")
text = wrong("TextEncoder")


class Stack(ours.Encoder):
    """A stack whose steps can be changed."""

    steps = slice(None)

    def forward(self, x, mask=None, *, trace=False):
        """Take the steps one after the other."""
        first, states, kept = x, [x], []
        for i, layer in enumerate(self.layers[self.steps]):
            x, weights = layer(
                self.entering(first, x), self.masking(mask, i), need_weights=trace
            )
            states.append(x)
            kept.append(weights)
        last = self.finish(x)
        if trace:
            return ours.EncoderOutput(last, tuple(states), tuple(kept))
        return ours.EncoderOutput(last, None, None)

    def entering(self, first, x):
        """What enters a layer."""
        return x

    def masking(self, mask, i):
        """The mask of layer i."""
        return mask

    def finish(self, x):
        """Normalise the result of a pre-norm stack."""
        return x if self.final_norm is None else self.final_norm(x)


@stack
class PlainList(Stack):
    """your layers stand in a plain list: the module does not see their parameters

    nn.ModuleList(…)
    """

    def __init__(self, config):
        super().__init__(config)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


@stack
class SameLayer(Stack):
    """[layer] * N is one layer N times: all share their weights

    make a new EncoderLayer for each
    """

    def __init__(self, config):
        super().__init__(config)
        self.layers = nn.ModuleList([self.layers[0]] * config.num_layers)


@stack
class EqualCopies(Stack):
    """you copy one layer, as nn.TransformerEncoder does: all start with equal weights

    make each with EncoderLayer(…), which draws its own
    """

    def __init__(self, config):
        super().__init__(config)
        copies = [deepcopy(self.layers[0]) for _ in self.layers]
        self.layers = nn.ModuleList(copies)


@stack
class OneFeedForward(Stack):
    """your layers share one feed-forward network

    each layer makes its own
    """

    def __init__(self, config):
        super().__init__(config)
        for layer in self.layers:
            layer.feed_forward = self.layers[0].feed_forward


@stack
class OneNorm(Stack):
    """your layers share their norms

    each layer makes its own
    """

    def __init__(self, config):
        super().__init__(config)
        for layer in self.layers:
            layer.norm_1 = self.layers[0].norm_1


@stack
class FirstInputForAll(Stack):
    """you give every layer the first input

    each layer gets what the one before it returned
    """

    def entering(self, first, x):
        return first


@stack
class AddsTheFirstInput(Stack):
    """you add the first input before each layer

    the residual sums are within the layers
    """

    def entering(self, first, x):
        return x if x is first else x + first


@stack
class DetachedBetween(Stack):
    """you cut the vectors off between the layers: only the last one learns

    hand x on as it is
    """

    def entering(self, first, x):
        return x.detach()


@stack
class NoMask(Stack):
    """you do not hand the mask on

    every layer needs the mask
    """

    def masking(self, mask, i):
        return None


@stack
class MasksFirstLayerAlone(Stack):
    """you give the mask to the first layer alone

    every layer needs the mask
    """

    def masking(self, mask, i):
        return None if i else mask


@stack
class LayerMissing(Stack):
    """you leave out the last layer

    run through all of self.layers
    """

    steps = slice(-1)


@stack
class Backwards(Stack):
    """you run the layers from last to first

    for layer in self.layers
    """

    steps = slice(None, None, -1)


@stack
class NoFinalNorm(Stack):
    """you do not normalise the result of the pre-norm stack

    apply self.final_norm after the last layer, where it is not None
    """

    def finish(self, x):
        return x


@stack
class FinalNormAlways(Stack):
    """your post-norm stack has a final norm too, which no checkpoint has

    final_norm is None where the layers end with a norm themselves
    """

    def __init__(self, config):
        super().__init__(config)
        self.final_norm = LayerNorm(config.d_model, config.eps)


@stack
class NormAfterEachLayer(Stack):
    """you apply the final norm after every layer

    it comes once, after the last
    """

    def entering(self, first, x):
        return x if x is first else super().finish(x)


@stack
class FinalNormWithoutEps(Stack):
    """your final norm does not get config.eps

    LayerNorm(config.d_model, config.eps)
    """

    def __init__(self, config):
        super().__init__(config)
        if self.final_norm is not None:
            self.final_norm.eps = 1e-5


@stack
class StateAfterTheNorm(ours.Encoder):
    """you keep the result after the final norm among the hidden states

    the last hidden state stands before the final norm
    """

    def forward(self, x, mask=None, *, trace=False):
        output = super().forward(x, mask, trace=trace)
        if not trace:
            return output
        return output._replace(hidden_states=(*output.hidden_states[:-1], output[0]))


@stack
class FirstStateMissing(ours.Encoder):
    """your hidden states lack the vectors that entered the first layer

    begin the list with x
    """

    def forward(self, x, mask=None, *, trace=False):
        output = super().forward(x, mask, trace=trace)
        if not trace:
            return output
        return output._replace(hidden_states=output.hidden_states[1:])


@stack
class TraceAlways(ours.Encoder):
    """you keep all states and weights, though trace is off

    None for both: they fill the memory
    """

    def forward(self, x, mask=None, *, trace=False):
        return super().forward(x, mask, trace=True)


@stack
class DropoutMissing(ours.Encoder):
    """you do not hand config.dropout on to the layers

    EncoderLayer(…, dropout=config.dropout)
    """

    def __init__(self, config):
        super().__init__(config)
        for layer in self.layers:
            layer.dropout = layer.attention.dropout = layer.feed_forward.dropout = 0.0


@stack
class InputDropped(ours.Encoder):
    """you drop values of the stack's input

    whoever makes the vectors drops them
    """

    def forward(self, x, mask=None, *, trace=False):
        p = self.config.dropout
        return super().forward(torch.dropout(x, p, self.training), mask, trace=trace)


class Reader(ours.TextEncoder):
    """An encoder of texts whose mask and segments can be changed."""

    def forward(
        self,
        token_ids,
        attention_mask=None,
        *,
        segment_ids=None,
        causal=False,
        trace=False,
    ):
        """Embed and run the layers."""
        x = self.embeddings(token_ids, self.segments(segment_ids))
        ours.score_mask(attention_mask, token_ids)  # the errors
        mask = self.masking(attention_mask, token_ids, causal)
        return ours.Encoder.forward(self, x, mask, trace=trace)

    def segments(self, segment_ids):
        """What is handed to the embeddings."""
        return segment_ids

    def masking(self, mask, ids, causal):
        """The mask of the scores."""
        return ours.score_mask(mask, ids, causal)


@text
class Inverted(Reader):
    """you take 1 for padding; 1 is a token and 0 is padding

    True in the scores' mask means that a query may attend
    """

    def masking(self, mask, ids, causal):
        return ours.score_mask(None if mask is None else 1 - mask.int(), ids, causal)


@text
class MaskIgnored(Reader):
    """you do not use the attention mask

    give every layer a mask with the axes of the scores
    """

    def masking(self, mask, ids, causal):
        return ours.score_mask(None, ids, causal)


@text
class MaskOnQueries(Reader):
    """you hide padded queries; it is keys that must be hidden

    mask[:, None, None, :] has the keys last
    """

    def masking(self, mask, ids, causal):
        found = ours.score_mask(mask, ids, causal)
        return None if found is None else found.transpose(-1, -2)


@text
class AlwaysCausal(Reader):
    """you hide later tokens; an encoder reads in both directions

    use the causal mask with causal=True alone
    """

    def masking(self, mask, ids, causal):
        return ours.score_mask(mask, ids, True)


@text
class CausalIgnored(Reader):
    """you do not use `causal`

    with causal=True a token sees itself and those before it
    """

    def masking(self, mask, ids, causal):
        return ours.score_mask(mask, ids)


@text
class CausalAlone(Reader):
    """you use the causal mask in place of the padding's; both hold

    join the two by &
    """

    def masking(self, mask, ids, causal):
        return ours.score_mask(None if causal else mask, ids, causal)


@text
class EitherMask(Reader):
    """you join causal mask and padding by |; both hold

    join the two by &
    """

    def masking(self, mask, ids, causal):
        if mask is None or not causal:
            return super().masking(mask, ids, causal)
        return ours.score_mask(mask, ids) | ours.causal_mask(ids.shape[1])


@text
class NoSegments(Reader):
    """you do not hand segment_ids on to the embeddings

    self.embeddings(token_ids, segment_ids)
    """

    def segments(self, segment_ids):
        return None


@text
class EmbeddingsDetached(Reader):
    """you cut the embeddings off: their tables get no gradient

    hand their result on as it is
    """

    def forward(self, token_ids, attention_mask=None, **how):
        x = self.embeddings(token_ids, how.pop("segment_ids", None)).detach()
        mask = ours.score_mask(attention_mask, token_ids, how.pop("causal", False))
        return ours.Encoder.forward(self, x, mask, **how)


@text
class MaskAsFloats(Reader):
    """you accept a mask of 0 and minus infinity, which says something else

    refuse other values than 0 and 1
    """

    def forward(self, token_ids, attention_mask=None, **how):
        if attention_mask is not None and attention_mask.shape == token_ids.shape:
            attention_mask = attention_mask > 0
        return super().forward(token_ids, attention_mask, **how)


@text
class OtherName(ours.TextEncoder):
    """your embeddings stand under another name: no checkpoint fits

    self.embeddings = TextEmbeddings(config)
    """

    def __init__(self, config):
        super().__init__(config)
        self.embedding = self.embeddings
        del self.embeddings
