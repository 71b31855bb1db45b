import numpy as np

from encoderlab.with_numpy import attention as ours
from encoderlab.with_numpy.functional import masked_softmax
from encoderlab.with_numpy.gradients import attention as right


def attention_vjp__by_einsum(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    ours.require_matching(q, k, v)
    root = np.sqrt(np.sqrt(q.shape[-1]))
    scores = np.einsum("...td,...sd->...ts", q / root, k / root)
    p = masked_softmax(scores, np.ones(scores.shape, bool) if mask is None else mask)
    factors = np.ones(p.shape)
    if rng is not None and dropout_p > 0:
        factors = rng.binomial(1, 1 - dropout_p, p.shape) / (1 - dropout_p)
    context = np.einsum("...ts,...se->...te", p * factors, v)

    def backward(d):
        d_v = np.einsum("...ts,...te->...se", p * factors, d)
        d_p = np.einsum("...te,...se->...ts", d, v) * factors
        d_s = p * (d_p - np.einsum("...ts,...ts->...t", d_p, p)[..., None])
        d_q = np.einsum("...ts,...sd->...td", d_s, k) / root**2
        return d_q, np.einsum("...ts,...td->...sd", d_s, q) / root**2, d_v

    return context, backward


def attention_vjp__query_by_query(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    if rng is not None and dropout_p > 0:
        return right.attention_vjp(q, k, v, mask, dropout_p=dropout_p, rng=rng)
    context, weights = ours.attention(q, k, v, mask)

    def backward(d):
        d_q, d_k, d_v = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
        for *batch, t in np.ndindex(*q.shape[:-1]):
            b = tuple(batch)
            p, d_t = weights[(*b, t)], d[(*b, t)]
            d_s = (np.diag(p) - np.outer(p, p)) @ (v[b] @ d_t) / q.shape[-1] ** 0.5
            d_q[(*b, t)] = d_s @ k[b]
            d_k[b] += np.outer(d_s, q[(*b, t)])
            d_v[b] += np.outer(p, d_t)
        return d_q, d_k, d_v

    return context, backward


def split_heads_vjp__by_slices(x, num_heads):
    y = ours.split_heads(x, num_heads)

    def backward(d):
        return np.concatenate([d[..., h, :, :] for h in range(num_heads)], axis=-1)

    return y, backward


def merge_heads_vjp__by_einsum_and_loop(x):
    *batch, H, T, K = x.shape
    y = np.einsum("...htk->...thk", x).reshape(*batch, T, H * K)

    def backward(d):
        pieces = [d[..., h * K : (h + 1) * K] for h in range(H)]
        return np.stack(pieces, axis=-3)

    return y, backward


def multi_head_attention_vjp__loop_over_heads(layer, x, mask=None, *, rng=None):
    if mask is not None:
        ours.require_score_axes(mask, x)
    B, T, D = x.shape
    H, K = layer.num_heads, D // layer.num_heads
    ways, contexts = [], []
    for h in range(H):
        cut = slice(h * K, (h + 1) * K)
        q = x @ layer.W_q[:, cut] + layer.b_q[cut]
        k = x @ layer.W_k[:, cut] + layer.b_k[cut]
        v = x @ layer.W_v[:, cut] + layer.b_v[cut]
        allowed = None if mask is None else np.broadcast_to(mask, (B, H, T, T))[:, h]
        context, way = right.attention_vjp(
            q, k, v, allowed, dropout_p=layer.dropout, rng=rng
        )
        ways.append((cut, way))
        contexts.append(context)
    merged = np.concatenate(contexts, axis=-1)
    y = merged @ layer.W_o + layer.b_o

    def backward(d):
        found = {"b_o": d.sum((0, 1)), "W_o": np.einsum("bti,bto->io", merged, d)}
        for s in "qkv":
            found[f"W_{s}"], found[f"b_{s}"] = np.zeros((D, D)), np.zeros(D)
        d_merged, d_x = d @ layer.W_o.T, np.zeros(x.shape)
        for cut, way in ways:
            for s, part in zip("qkv", way(d_merged[..., cut]), strict=True):
                W = getattr(layer, f"W_{s}")[:, cut]
                found[f"W_{s}"][:, cut] = np.tensordot(x, part, axes=([0, 1], [0, 1]))
                found[f"b_{s}"][cut] = part.sum((0, 1))
                d_x += part @ W.T
        return d_x, found

    return y, backward


def multi_head_attention_vjp__fused(layer, x, mask=None, *, rng=None):
    if mask is not None:
        ours.require_score_axes(mask, x)
    W = np.concatenate([layer.W_q, layer.W_k, layer.W_v], axis=1)
    b = np.concatenate([layer.b_q, layer.b_k, layer.b_v])
    parts = np.split(x @ W + b, 3, axis=-1)
    heads = [ours.split_heads(part, layer.num_heads) for part in parts]
    context, way = right.attention_vjp(*heads, mask, dropout_p=layer.dropout, rng=rng)
    merged = ours.merge_heads(context)

    def backward(d):
        rows = d.reshape(-1, d.shape[-1])
        d_context = ours.split_heads(d @ layer.W_o.T, layer.num_heads)
        fused = np.concatenate([ours.merge_heads(p) for p in way(d_context)], axis=-1)
        flat = fused.reshape(len(rows), -1)
        d_W = np.split(x.reshape(len(rows), -1).T @ flat, 3, axis=1)
        found = {f"W_{s}": part for s, part in zip("qkv", d_W, strict=True)}
        d_b = np.split(flat.sum(0), 3)
        found |= {f"b_{s}": part for s, part in zip("qkv", d_b, strict=True)}
        found |= {"W_o": merged.reshape(len(rows), -1).T @ rows, "b_o": rows.sum(0)}
        return fused @ W.T, found

    return merged @ layer.W_o + layer.b_o, backward
