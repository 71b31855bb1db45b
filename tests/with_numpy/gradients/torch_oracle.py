"""The encoder once more, in torch's own functions, for autograd to differentiate.

Every function takes the weights by the names that ``parameters`` gives them.
"""

import torch
from torch.nn import functional as tnf

ACTIVATIONS = {
    "relu": tnf.relu,
    "gelu": tnf.gelu,
    "gelu_tanh": lambda x: tnf.gelu(x, approximate="tanh"),
    "silu": tnf.silu,
}


def below(weights, prefix):
    """The weights of one sublayer."""
    start = prefix + "."
    return {n[len(start) :]: w for n, w in weights.items() if n.startswith(start)}


def attention(weights, layer, x, mask):
    q, k, v = (
        tnf.linear(x, weights["W_" + part].T, weights["b_" + part])
        .unflatten(-1, (layer.num_heads, -1))
        .transpose(-2, -3)
        for part in "qkv"
    )
    context = tnf.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    merged = context.transpose(-2, -3).flatten(-2)
    return tnf.linear(merged, weights["W_o"].T, weights["b_o"])


def feed_forward(weights, layer, x):
    hidden = tnf.linear(x, weights["W_1"].T, weights["b_1"])
    hidden = ACTIVATIONS[layer.activation](hidden)
    return tnf.linear(hidden, weights["W_2"].T, weights["b_2"])


def norm(weights, layer, x):
    return tnf.layer_norm(x, x.shape[-1:], weights["gamma"], weights["beta"], layer.eps)


def encoder_layer(weights, layer, x, mask=None):
    def norm_1(x):
        return norm(below(weights, "norm_1"), layer.norm_1, x)

    def norm_2(x):
        return norm(below(weights, "norm_2"), layer.norm_2, x)

    def attend(x):
        return attention(below(weights, "attention"), layer.attention, x, mask)

    def transform(x):
        return feed_forward(below(weights, "feed_forward"), layer.feed_forward, x)

    if layer.norm_first:
        x = x + attend(norm_1(x))
        return x + transform(norm_2(x))
    x = norm_1(x + attend(x))
    return norm_2(x + transform(x))


def encoder(weights, model, x, mask=None):
    for i, layer in enumerate(model.layers):
        x = encoder_layer(below(weights, f"layers.{i}"), layer, x, mask)
    final = model.final_norm
    return x if final is None else norm(below(weights, "final_norm"), final, x)


def text_encoder(weights, model, token_ids, segment_ids, mask):
    of = below(weights, "embeddings")
    x = tnf.embedding(token_ids, of["W_token"])
    x = x + tnf.embedding(segment_ids, of["W_segment"])
    x = x + of["W_position"][: token_ids.shape[1]]
    x = norm(below(of, "norm"), model.embeddings.norm, x)
    return encoder(weights, model, x, mask[:, None, None, :].bool())


def image_encoder(weights, model, images):
    of, p = below(weights, "embeddings"), model.config.patch_size
    patches = tnf.unfold(images, p, stride=p).transpose(1, 2)
    x = tnf.linear(patches, of["W_patch"].T, of["b_patch"])
    first = of["class_token"].expand(len(x), 1, -1)
    return encoder(weights, model, torch.cat([first, x], dim=1) + of["W_position"])
