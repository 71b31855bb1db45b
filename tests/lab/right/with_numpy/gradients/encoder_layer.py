import numpy as np

from encoderlab.with_numpy import gradients as g


def residual_vjp__in_a_copy(x, sublayer):
    y, way_back = sublayer(x)

    def backward(d):
        total = d.copy()
        d_x, found = way_back(d)
        total += d_x
        return total, dict(found)

    return np.add(x, y), backward


def encoder_layer_vjp__written_out(layer, x, mask=None, *, rng=None):
    pre = layer.norm_first
    ways = {}

    def norm(i, x):
        y, ways[f"norm_{i}"] = g.norm_vjp(getattr(layer, f"norm_{i}"), x)
        return y

    def drop(i, x):
        y, ways[f"drop_{i}"] = g.dropout_vjp(x, layer.dropout, rng)
        return y

    y, ways["attention"] = g.multi_head_attention_vjp(
        layer.attention, norm(1, x) if pre else x, mask, rng=rng
    )
    h = x + drop(1, y)
    h = h if pre else norm(1, h)
    y, ways["feed_forward"] = g.feed_forward_vjp(
        layer.feed_forward, norm(2, h) if pre else h, rng=rng
    )
    out = h + drop(2, y)
    out = out if pre else norm(2, out)

    def backward(d):
        found = {}

        def back(name, d):
            d, more = ways[name](d)
            found.update({f"{name}.{key}": array for key, array in more.items()})
            return d

        for i, name in ((2, "feed_forward"), (1, "attention")):
            d = d if pre else back(f"norm_{i}", d)
            d_part = back(name, ways[f"drop_{i}"](d))
            d = d + (back(f"norm_{i}", d_part) if pre else d_part)
        return d, found

    return out, backward
