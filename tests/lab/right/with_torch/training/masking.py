"""Masking with one draw, by Bernoulli's, by counts and by loops; two perplexities."""

import math
import random

import numpy as np
import torch
import torch.nn.functional as F


def _refuse(ids, mask_id, vocab_size, special_ids, p):
    special = set(special_ids)
    if not (p >= 0 and p <= 1) or mask_id not in special:
        raise ValueError("probability or mask_id")
    if any(i < 0 or i >= vocab_size for i in special | set(ids.flatten().tolist())):
        raise ValueError("an id is out of range")
    if special == set(range(vocab_size)):
        raise ValueError("nothing to draw")


def mask_tokens__one_number_for_choice_and_fate(
    token_ids,
    *,
    mask_id,
    vocab_size,
    special_ids,
    probability=0.15,
    generator=None,
):
    p = probability
    _refuse(token_ids, mask_id, vocab_size, special_ids, p)
    words = [i for i in range(vocab_size) if i not in special_ids]
    words = torch.tensor(words, dtype=token_ids.dtype)
    place = torch.randint(len(words), token_ids.shape, generator=generator)
    u = torch.rand(token_ids.shape, generator=generator, dtype=torch.float64)
    for special in special_ids:
        u[token_ids == special] = 2.0
    inputs = token_ids.clone()
    inputs[u < 0.8 * p] = mask_id
    drawn = (u >= 0.8 * p) & (u < 0.9 * p)
    inputs[drawn] = words[place][drawn]
    return inputs, torch.where(u < p, token_ids, -100).to(token_ids.dtype)


def mask_tokens__bernoulli_and_others_alone(
    token_ids,
    *,
    mask_id,
    vocab_size,
    special_ids,
    probability=0.15,
    generator=None,
):
    _refuse(token_ids, mask_id, vocab_size, special_ids, probability)
    inputs, targets = token_ids.clone(), token_ids.clone()
    special = torch.zeros(vocab_size).index_fill(0, torch.tensor([*special_ids]), 1.0)
    rates = torch.full(token_ids.shape, float(probability))
    rates.masked_fill_(special.bool()[token_ids.long()], 0.0)
    chosen = torch.bernoulli(rates, generator=generator).bool()
    targets[~chosen] = -100

    def half(share):
        return torch.bernoulli(torch.full(rates.shape, share), generator=generator) == 1

    masks = half(0.8) & chosen
    drawn = half(0.5) & chosen & ~masks
    inputs[masks] = mask_id
    # each row of the table leaves the token itself out
    others = (1 - special).expand(vocab_size, -1).clone().fill_diagonal_(0)
    others[others.sum(-1) == 0] = 1 - special
    if drawn.any():
        rows = others[token_ids[drawn].long()]
        new = torch.multinomial(rows, 1, generator=generator)[:, 0]
        inputs[drawn] = new.to(inputs.dtype)
    return inputs, targets


def mask_tokens__a_list_of_the_chosen(
    token_ids,
    *,
    mask_id,
    vocab_size,
    special_ids,
    probability=0.15,
    generator=None,
):
    _refuse(token_ids, mask_id, vocab_size, special_ids, probability)
    every = torch.arange(vocab_size)
    words = every[torch.isin(every, torch.tensor(list(special_ids)), invert=True)]
    u = torch.rand(token_ids.numel(), generator=generator)
    flat = token_ids.reshape(-1)
    may_be = (flat[:, None] == words).any(1)
    places = torch.nonzero(may_be & (u < probability))[:, 0]
    inputs, targets = flat.clone(), torch.full_like(flat, -100)
    targets[places] = flat[places]
    if len(places):
        shares = torch.tensor([0.1, 0.1, 0.8])
        fates = torch.multinomial(shares, len(places), True, generator=generator)
        inputs[places[fates == 2]] = mask_id
        drawn = places[fates == 0]
        new = torch.randint(0, len(words), drawn.shape, generator=generator)
        inputs[drawn] = words[new].to(inputs.dtype)
    return inputs.view_as(token_ids), targets.view_as(token_ids)


def mask_tokens__token_by_token(
    token_ids,
    *,
    mask_id,
    vocab_size,
    special_ids,
    probability=0.15,
    generator=None,
):
    _refuse(token_ids, mask_id, vocab_size, special_ids, probability)
    words = sorted(set(range(vocab_size)) - set(special_ids))
    seed = torch.randint(2**62, (), generator=generator).item()
    chance = random.Random(seed)
    inputs, targets = token_ids.flatten().tolist(), [-100] * token_ids.numel()
    for i, token in enumerate(inputs):
        if token in words and chance.random() < probability:
            targets[i] = token
            kind = chance.randrange(10)
            if kind < 8:
                inputs[i] = mask_id
            elif kind == 8:
                inputs[i] = chance.choice(words)
    return tuple(
        torch.tensor(x, dtype=token_ids.dtype).reshape(token_ids.shape)
        for x in (inputs, targets)
    )


def perplexity__two_to_the_bits(loss):
    bits = np.asarray(torch.as_tensor(loss).detach()) / math.log(2)
    return float(2.0**bits)


def perplexity__exp_of_the_item(loss):
    return math.exp(loss.item() if isinstance(loss, torch.Tensor) else loss)


def perplexity__of_torch_in_float32(loss):
    return torch.as_tensor(loss).exp().item()


def _check(ids, vocab_size):
    ids = ids[ids >= 0]
    if (ids >= vocab_size).any():
        raise ValueError("an id is too large")
    return ids


def unigram_perplexity__product_of_probabilities(train_ids, held_out_ids, vocab_size):
    seen = _check(train_ids, vocab_size).tolist()
    asked = _check(held_out_ids, vocab_size).tolist()
    if not asked:
        raise ValueError("nothing to guess")
    product = 1.0
    for token in asked:
        product *= (len(seen) + vocab_size) / (seen.count(token) + 1)
    return product ** (1 / len(asked))


def unigram_perplexity__cross_entropy_of_log_counts(
    train_ids, held_out_ids, vocab_size
):
    seen, asked = _check(train_ids, vocab_size), _check(held_out_ids, vocab_size)
    if asked.numel() == 0:
        raise ValueError("nothing to guess")
    counts = torch.ones(vocab_size).index_add(0, seen, torch.ones(len(seen)))
    logits = counts.log().expand(len(asked), -1)
    return F.cross_entropy(logits, asked).exp().item()


def unigram_perplexity__by_both_counts(train_ids, held_out_ids, vocab_size):
    seen, asked = _check(train_ids, vocab_size), _check(held_out_ids, vocab_size)
    if len(asked) == 0:
        raise ValueError("nothing to guess")
    every = torch.arange(vocab_size)
    n = (seen[:, None] == every).sum(0) + 1
    m = F.one_hot(asked, vocab_size).sum(0).double()
    bits = torch.log2(n / n.sum())
    return 2 ** -float((m * bits).sum() / m.sum())
