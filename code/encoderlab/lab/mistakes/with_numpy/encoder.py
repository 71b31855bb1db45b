"""What goes wrong in chapter 11, with the stack and the encoder of texts."""

from copy import deepcopy
from functools import partial

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy import encoder as ours

stack = partial(mistake, "Encoder")
text = partial(mistake, "TextEncoder")


def stacked(enters=lambda first, x: x, mask_of=lambda mask, i: mask, steps=slice(None)):
    """Run the layers with another input, another mask, or others of them."""

    class Wrong(ours.Encoder):
        def __call__(self, x, mask=None, *, rng=None, trace=False):
            first, states, kept = x, [x], []
            for i, layer in enumerate(self.layers[steps]):
                x, weights = layer(enters(first, x), mask_of(mask, i), rng=rng)
                states.append(x)
                kept.append(weights)
            x = x if self.final_norm is None else self.final_norm(x)
            return ours.EncoderOutput(
                x, tuple(states) if trace else None, tuple(kept) if trace else None
            )

    return Wrong


def made(change):
    """Change a stack after it is made."""

    class Wrong(ours.Encoder):
        def __init__(self, config, *, rng):
            super().__init__(config, rng=rng)
            change(self)

    return Wrong


def returned(change):
    """Change what a stack returns with trace."""

    class Wrong(ours.Encoder):
        def __call__(self, x, mask=None, *, rng=None, trace=False):
            output = super().__call__(x, mask, rng=rng, trace=True)
            output = output._replace(**change(self, output))
            return output if trace else ours.EncoderOutput(output[0], None, None)

    return Wrong


stack(
    "same_layer",
    "[layer] * N is one layer N times: all share their weights",
    "make a new EncoderLayer in each turn of the loop",
)(made(lambda self: setattr(self, "layers", self.layers[:1] * len(self.layers))))
stack(
    "equal_copies",
    "you copy the first layer, so that all start with the same weights",
    "make each with EncoderLayer(…, rng=rng), which goes on drawing",
)(
    made(
        lambda self: setattr(
            self, "layers", [deepcopy(self.layers[0]) for _ in self.layers]
        )
    )
)
stack(
    "one_feed_forward",
    "your layers share one feed-forward network",
    "each layer makes its own",
)(
    made(
        lambda self: [
            setattr(x, "feed_forward", self.layers[0].feed_forward) for x in self.layers
        ]
    )
)
stack(
    "first_input_for_all",
    "you give every layer the first input",
    "each layer gets what the one before it returned",
)(stacked(enters=lambda first, x: first))
stack(
    "masks_first_layer_alone",
    "you give the mask to the first layer alone",
    "every layer needs the mask",
)(stacked(mask_of=lambda mask, i: None if i else mask))
stack(
    "no_mask",
    "you do not hand the mask on",
    "every layer needs the mask",
)(stacked(mask_of=lambda mask, i: None))
stack(
    "layer_missing",
    "you leave out the last layer",
    "run through all of self.layers",
)(stacked(steps=slice(-1)))
stack(
    "no_final_norm",
    "you do not normalise the result of the pre-norm stack",
    "apply self.final_norm after the last layer, where it is not None",
)(returned(lambda self, out: {"last_hidden_state": out.hidden_states[-1]}))
stack(
    "state_after_the_norm",
    "you keep the result after the final norm among the hidden states",
    "the last hidden state stands before the final norm",
)(returned(lambda self, out: {"hidden_states": (*out.hidden_states[:-1], out[0])}))


def reading(mask_of, segments_of=lambda segments: segments):
    """Read texts with another mask for the scores, or other segments."""

    class Wrong(ours.TextEncoder):
        def __call__(self, token_ids, attention_mask=None, **how):
            segments, causal = how.pop("segment_ids", None), how.pop("causal", False)
            x = self.embeddings(token_ids, segments_of(segments), rng=how.get("rng"))
            scores = mask_of(attention_mask, x.shape[:2], causal)
            return ours.Encoder.__call__(self, x, scores, **how)

    return Wrong


text(
    "inverted",
    "you take 1 for padding; 1 is a token and 0 is padding",
    "True in the scores' mask means that a query may attend",
)(
    reading(
        lambda m, *how: ours.score_mask(
            m if m is None else 1 - np.asarray(m, int), *how
        )
    )
)
text(
    "mask_ignored",
    "you do not use the attention mask",
    "give every layer a mask with the axes of the scores",
)(reading(lambda mask, shape, causal: ours.score_mask(None, shape, causal)))
text(
    "mask_on_queries",
    "you hide padded queries; it is keys that must be hidden",
    "mask[:, None, None, :] has the keys last",
)(
    reading(
        lambda *how: m if (m := ours.score_mask(*how)) is None else m.swapaxes(-1, -2)
    )
)
text(
    "always_causal",
    "you hide later tokens; an encoder reads in both directions",
    "use the causal mask with causal=True alone",
)(reading(lambda mask, shape, causal: ours.score_mask(mask, shape, True)))
text(
    "causal_ignored",
    "you do not use `causal`",
    "with causal=True a token sees itself and those before it",
)(reading(lambda mask, shape, causal: ours.score_mask(mask, shape)))
text(
    "causal_alone",
    "you use the causal mask in place of the padding's; both hold",
    "join the two by &",
)(
    reading(
        lambda m, shape, causal: ours.score_mask(None if causal else m, shape, causal)
    )
)
text(
    "no_segments",
    "you do not hand segment_ids on to the embeddings",
    "self.embeddings(token_ids, segment_ids)",
)(reading(ours.score_mask, lambda segments: None))
