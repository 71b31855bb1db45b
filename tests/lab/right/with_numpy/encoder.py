"""Stacks run by recursion, by reduce, on one sequence at a time; other masks."""

from functools import reduce

import numpy as np

from encoderlab.with_numpy import encoder as ours
from encoderlab.with_numpy.embeddings import TextEmbeddings
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.normalization import LayerNorm


class Encoder__by_recursion:
    def __init__(self, config, *, rng):
        c = config
        self.final_norm = LayerNorm(c.d_model, c.eps) if c.norm_first else None
        self.layers = ()
        how = {"norm_first": c.norm_first, "activation": c.activation}
        while len(self.layers) < c.num_layers:
            layer = EncoderLayer(
                c.d_model,
                c.num_heads,
                c.d_ff,
                **how,
                eps=c.eps,
                dropout=c.dropout,
                rng=rng,
            )
            self.layers = (layer, *self.layers)

    def run(self, x, mask, rng, depth=0):
        if depth == len(self.layers):
            return (x,), ()
        y, weights = self.layers[depth](x, mask, rng=rng)
        states, rest = self.run(y, mask, rng, depth + 1)
        return (x, *states), (weights, *rest)

    def __call__(self, x, mask=None, *, rng=None, trace=False):
        states, weights = self.run(x, mask, rng)
        last = self.final_norm(states[-1]) if self.final_norm else states[-1]
        if trace:
            return ours.EncoderOutput(last, states, weights)
        return ours.EncoderOutput(last, None, None)


class Encoder__by_reduce(ours.Encoder):
    def __call__(self, x, mask=None, *, rng=None, trace=False):
        pairs = reduce(
            lambda done, layer: [*done, layer(done[-1][0], mask, rng=rng)],
            self.layers,
            [(np.array(x), None)],
        )
        last = pairs[-1][0]
        if self.config.norm_first:
            last = self.final_norm(last)
        states = [x for x, _ in pairs] if trace else None
        return ours.EncoderOutput(
            last, states, [w for _, w in pairs[1:]] if trace else None
        )


class Encoder__sequence_by_sequence(ours.Encoder):
    def __call__(self, x, mask=None, *, rng=None, trace=False):
        if mask is not None:
            mask = np.broadcast_to(mask, (len(x), *mask.shape[1:]))
        run = super().__call__
        outputs = [
            run(
                x[i : i + 1],
                mask if mask is None else mask[i : i + 1],
                rng=rng,
                trace=True,
            )
            for i in range(len(x))
        ]
        last = np.concatenate([output[0] for output in outputs])
        if not trace:
            return ours.EncoderOutput(last, None, None)
        traces = (
            tuple(
                map(
                    np.concatenate, zip(*(output[k] for output in outputs), strict=True)
                )
            )
            for k in (1, 2)
        )
        return ours.EncoderOutput(last, *traces)


class TextEncoder__hides_padded_queries_too:
    """Its vectors at padded positions are others, and mean nothing there either."""

    def __init__(self, config, *, rng):
        self.embeddings = TextEmbeddings(config, rng=rng)
        self.stack = ours.Encoder(config, rng=rng)
        self.layers, self.final_norm = self.stack.layers, self.stack.final_norm

    def __call__(self, token_ids, attention_mask=None, *, segment_ids=None, **how):
        if attention_mask is None:
            attention_mask = np.ones(token_ids.shape)
        if np.shape(attention_mask) != token_ids.shape:
            raise ValueError("the shapes differ")
        if set(np.unique(attention_mask)) - {0, 1}:
            raise ValueError("neither 0 nor 1")
        keep, causal = attention_mask == 1, how.pop("causal", False)
        mask = (keep[:, None, :] & keep[:, :, None])[:, None]
        if causal:
            mask = np.tril(mask)
        x = self.embeddings(token_ids, segment_ids, rng=how.get("rng"))
        return self.stack(x, mask, **how)


class TextEncoder__zeros_at_the_padding(ours.TextEncoder):
    def __call__(self, token_ids, attention_mask=None, **how):
        output = super().__call__(token_ids, attention_mask, **how)
        if attention_mask is None:
            return output
        keep = np.asarray(attention_mask, float)[:, :, None]
        return output._replace(last_hidden_state=output.last_hidden_state * keep)
