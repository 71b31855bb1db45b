"""Checks of chapter 16: what is masked, however it is drawn, and what guesses cost.

What is drawn is asked for in shares of 18,000 tokens, which are rounded so that a right
solution is more than five standard deviations away from another answer.
"""

from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from encoderlab.lab.case import Case, Property, WrongForm, ask
from encoderlab.lab.modules import exact, own_chance

MASK = 6
SPECIAL = (0, 1, MASK, 13)
WORDS = [i for i in range(17) if i not in SPECIAL]
SEEN = torch.tensor([2, 3, 5, 9, 12])
"""The tokens of the texts; eight others may be drawn."""
FEW = torch.tensor([1, 2, 5, 9, 3, 2, 12, 0, 0])
AXES = ("call", "sequence", "position")


def mask_tokens(solution, rng):
    seed = int(rng.integers(2**31))

    def masked(ids, seed=seed, **options):
        """Both results; what PyTorch's own generator is asked for follows a seed."""
        with own_chance(seed):
            return _two(solution(ids.clone(), **_kinds() | options), ids)

    rows = np.tile(np.arange(17), (3, 40))
    mixed = torch.from_numpy(rng.permuted(rows, axis=1))
    texts = SEEN[torch.from_numpy(rng.integers(5, size=(12, 10, 150)))]
    yield from _nothing_and_all(solution, masked, mixed)
    yield from _one_generator_or_another(solution, masked, texts[0])

    @cache
    def many(probability):
        """Both results of 12 calls, one after the other."""
        with own_chance(seed):
            pairs = [
                _two(solution(ids.clone(), **_kinds(), probability=probability), ids)
                for ids in texts
            ]
        return [torch.stack(parts) for parts in zip(*pairs, strict=True)]

    def refused(says, ids=FEW, **options):
        how = {**_kinds(), **options}
        return Case(says, lambda: solution(ids.clone(), **how), raises=ValueError)

    for wrong in (-0.1, 1.1, float("nan")):
        yield refused(f"probability = {wrong}", probability=wrong)
    yield refused("the id 17 of 17", FEW + 5)
    yield refused("the id -1", FEW - 1)
    yield refused("the special id 17 of 17", special_ids={0, MASK, 17})
    yield refused("the special id -1", special_ids={-1, MASK})
    yield refused("[MASK] is not special", special_ids={0, 1, 13})
    yield refused("every id is special", special_ids=set(range(17)))
    yield from _in_shares(masked, many, texts)  # the last, as it may break off


def _nothing_and_all(solution, masked, mixed):
    """Ask what does not depend on chance."""
    special = torch.isin(mixed, torch.tensor(SPECIAL))

    def both(dtype, says):
        return ask(
            lambda ids, **how: [str(x.dtype) for x in _two(solution(ids, **how), ids)],
            FEW.to(dtype),
            says=f"the dtypes of inputs and targets, {says}",
            keywords={**_kinds(), "probability": 1.0},
        )

    def surely(part):
        return masked(mixed, probability=1.0)[part]

    yield both(torch.int64, "9 ids")
    for ids, says in (
        (mixed[0], "680 ids"),
        (mixed, "3 x 680"),
        (mixed[:, None], "3 axes"),
    ):
        yield Property(
            f"probability = 0, {says}: nothing is chosen, the inputs are the ids",
            partial(_untouched, masked, ids),
        )
    yield Property(
        "probability = 1: every token that is not special is in the targets",
        lambda: bool((surely(1) == mixed)[~special].all()),
    )
    yield Case(
        "special ids that are chosen",
        lambda: _listed(mixed[special & (surely(1) == mixed)]),
    )
    yield Case(
        "special ids that are replaced",
        lambda: _listed(mixed[special & (surely(0) != mixed)]),
    )
    yield Case(
        "what else than the tokens' ids stands in the targets",
        lambda: _listed(surely(1)[surely(1) != mixed]),
    )
    yield Property(
        "probability = 0.5: the inputs are the ids where the targets are -100",
        lambda: _kept_where_not_asked(*masked(mixed, probability=0.5), mixed),
    )
    for dtype in (torch.int32, torch.int16):
        yield both(dtype, f"ids in {dtype}")
    yield Property("special_ids are as they were", partial(_unchanged, solution))
    for kind in (list, tuple, frozenset):
        yield Property(
            f"special_ids may be a {kind.__name__}",
            partial(_untouched, partial(masked, special_ids=kind(SPECIAL)), mixed),
        )


def _one_generator_or_another(solution, masked, ids):
    """Ask where the chance comes from."""
    masked = partial(masked, ids, probability=0.5)

    def seeded(number, seed=0):
        return masked(seed, generator=torch.Generator().manual_seed(number))

    for part, name in enumerate(("inputs", "targets")):
        yield Property(
            f"a generator of the same seed gives the same {name}",
            lambda part=part: torch.equal(seeded(3)[part], seeded(3, 1)[part]),
        )
    yield Property(
        "a generator of another seed gives another choice",
        lambda: not torch.equal(seeded(3)[1], seeded(4)[1]),
    )
    yield Property(
        "a second call with the same generator gives another choice",
        lambda: _goes_on(masked),
    )
    yield Property(
        "PyTorch's own generator is left alone where another is given",
        lambda: _left_alone(partial(solution, ids.clone(), **_kinds())),
    )
    yield Property(
        "without a generator torch.manual_seed decides",
        lambda: (
            torch.equal(masked(1)[0], masked(1)[0])
            and not torch.equal(masked(1)[1], masked(2)[1])
        ),
    )


def _in_shares(masked, many, texts):
    """Ask how often things happen, whatever the order in which they are drawn."""
    apart = {
        "which tokens are chosen": lambda: many(0.5)[1] != -100,
        "what becomes of them": lambda: many(1.0)[0] == MASK,
    }
    for what, found in apart.items():
        for axis, name in enumerate(AXES):
            yield Property(
                f"{what} differs from {name} to {name}",
                lambda found=found, axis=axis: _differs(found(), axis),
            )
    if not all(
        _differs(f(), axis) for f in apart.values() for axis in range(len(AXES))
    ):
        return  # what is drawn once for many makes a share mean nothing
    for axes, name in (((2,), "sequence"), ((1, 2), "call")):
        yield Property(
            f"how many are chosen differs from {name} to {name}",
            lambda axes=axes: (many(0.5)[1] != -100).sum(axes).unique().numel() > 1,
        )
    yield Property(
        "how many become [MASK] differs from call to call",
        lambda: (many(1.0)[0] == MASK).sum((1, 2)).unique().numel() > 1,
    )
    for what, found in apart.items():
        yield Property(
            f"{what}: one token has no influence on the next",
            lambda found=found: abs(_covariance(found())) < 0.02,
        )

    def fates():
        inputs, targets = many(1.0)
        chosen = targets != -100  # all, unless something else is wrong
        return _shares(inputs[chosen], texts[chosen], 0.1)

    yield Case("probability = 1: what the chosen ones become, to one decimal", fates)
    yield Property(
        "probability = 1: about a tenth of the chosen ones stay as they are",
        lambda: 0.075 < _share(many(1.0)[0] == texts) < 0.125,
    )
    yield Case(
        "probability = 0.5: the share of [MASK] in the inputs, in steps of 0.05",
        lambda: _shares(many(0.5)[0], texts, 0.05)["[MASK]"],
    )
    yield Case(
        "probability = 0.5: shares of the targets, in steps of 0.05",
        lambda: _shares(many(0.5)[1], texts, 0.05),
    )
    yield Property(
        "no probability given: about 0.15 are chosen",
        lambda: 0.1 < _share(masked(texts[:6])[1] != -100) < 0.2,
    )
    other = torch.tensor([i for i in SPECIAL if i != MASK])
    yield Case(
        "special ids other than [MASK] that are drawn",
        lambda: _listed(many(1.0)[0][torch.isin(many(1.0)[0], other)]),
    )
    for axis, name in enumerate(AXES):
        yield Property(
            f"which token is drawn differs from {name} to {name}",
            lambda axis=axis: _draws_differ(many(1.0)[0], texts, axis),
        )
    if not all(_draws_differ(many(1.0)[0], texts, axis) for axis in range(len(AXES))):
        return  # which one it is, is left to chance
    yield Case(
        "how many different tokens are drawn",
        lambda: many(1.0)[0][_drawn(many(1.0)[0], texts)].unique().numel(),
    )
    yield Property(
        "all tokens that are not special are drawn about equally often",
        lambda: _drawn_alike(many(0.5)[0], texts, WORDS, (0.2, 3.0)),
    )
    three = {"mask_id": 4, "vocab_size": 5, "special_ids": {0, 4}, "probability": 1.0}
    yield Property(
        "three tokens are drawn equally often",
        lambda: _drawn_alike(
            masked(texts % 3 + 1, **three)[0], texts % 3 + 1, [1, 2, 3], (0.7, 1.3)
        ),
    )
    two = {"mask_id": 3, "vocab_size": 4, "special_ids": {0, 3}, "probability": 1.0}
    yield Property(
        "[MASK] is not drawn: among 2 tokens it still has 80 %, not 83 %",
        lambda: abs(_share(masked(texts % 2 + 1, **two)[0] == 3) - 0.8) < 1 / 60,
    )


def _kinds():
    """The ids of each kind, made anew: a solution may change its own."""
    return {"mask_id": MASK, "vocab_size": 17, "special_ids": set(SPECIAL)}


def _two(answer, ids):
    """Both results, each a tensor of the ids' shape."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise WrongForm("it must return two things, inputs and targets")
    for name, part in zip(("inputs", "targets"), answer, strict=True):
        if not isinstance(part, Tensor):
            raise WrongForm(f"{name} must be a tensor, not {type(part).__name__}")
        if part.shape != ids.shape:
            raise WrongForm(
                f"{name} must have the shape of token_ids, {tuple(ids.shape)}, they "
                f"have {tuple(part.shape)}"
            )
    return answer


def _untouched(masked, ids):
    inputs, targets = masked(ids, probability=0.0)
    return bool((inputs == ids).all() and (targets == -100).all())


def _unchanged(solution):
    kinds = _kinds()
    with own_chance(0):
        solution(FEW.clone(), **kinds)
    return kinds == _kinds()


def _kept_where_not_asked(inputs, targets, ids):
    return bool((inputs == ids)[targets == -100].all())


def _differs(found, axis):
    """Whether a line along the axis holds both; all or none passes, shares see that."""
    along = (found != found.narrow(axis, 0, 1)).any()
    return bool(along) or bool(found.all()) or not bool(found.any())


def _covariance(found):
    """Of each token and the next one."""
    x = found.double()
    return float((x[..., 1:] * x[..., :-1]).mean() - x.mean() ** 2)


def _share(found):
    return float(found.double().sum() / max(found.numel(), 1))


def _shares(result, ids, step):
    """How often each kind stands in a result, in steps."""
    kinds = {
        "[MASK]": result == MASK,
        "the token itself": result == ids,
        "-100": result == -100,
    }
    kinds["another number"] = ~torch.stack(list(kinds.values())).any(0)
    shares = {name: _share(found) for name, found in kinds.items()}
    return {name: round(round(x / step) * step, 2) for name, x in shares.items()}


def _listed(values):
    """The different numbers, the first few, as text."""
    return ", ".join(map(str, values.unique()[:5].tolist())) or "none"


def _drawn(inputs, ids):
    """Where a token came in that was not there."""
    return (inputs != ids) & (inputs != MASK)


def _draws_differ(inputs, ids, axis):
    """Whether a line along the axis holds two tokens; none passes, shares see that."""
    found = _drawn(inputs, ids)
    lowest = inputs.where(found, 99).amin(axis)
    return bool((inputs.where(found, -1).amax(axis) > lowest).any() or not found.any())


def _drawn_alike(inputs, ids, words, bounds):
    """Whether each token comes in about as often where another one was."""
    rates = [_share(inputs[ids != v] == v) for v in words]
    low, high = (bound * sum(rates) / len(rates) for bound in bounds)
    return all(low < rate < high for rate in rates)


def _goes_on(masked):
    source = torch.Generator().manual_seed(3)
    one, other = masked(generator=source), masked(generator=source)
    return not torch.equal(one[1], other[1])


def _left_alone(masked):
    with own_chance(1234567):
        before = torch.get_rng_state()
        masked(generator=torch.Generator().manual_seed(3))
        return torch.equal(before, torch.get_rng_state())


def perplexity(solution, rng):
    def asked(loss, says):
        return ask(solution, loss, says=says, rtol=1e-5)

    yield asked(0.0, "a loss of 0: always right")
    yield asked(exact(8.0).log(), "the loss of a guess among 8, log 8")
    yield asked(1.0, "a loss of 1")
    for loss, kind in ((1.0, "float"), (exact(1.0), "tensor")):
        says = f"what is returned for a {kind}"
        yield Case(says, lambda loss=loss: _kind(solution(loss)))
    some = 0.5 + 4 * float(rng.random())
    yield asked(some, f"a loss of {some:.3f}, a float")
    yield asked(exact(some), "the same as a tensor")
    yield asked(torch.tensor(some), "the same as a tensor in float32")
    trained = torch.tensor(some, requires_grad=True)
    yield asked(trained, "a tensor that autograd follows")
    yield asked(torch.inf, "an infinite loss")


def unigram_perplexity(solution, rng):
    def asked(train, held_out, size, says):
        return ask(solution, train, held_out, size, says=says, rtol=1e-5)

    one, train = torch.tensor([0]), torch.tensor([0, 0])
    yield asked(train, one, 2, "ids [0, 0] were seen, [0] is guessed, of 2 ids")
    yield asked(train, torch.tensor([1, 0]), 2, "[1, 0] is guessed: 1 was never seen")
    yield Case("what is returned", lambda: _kind(solution(train, one, 2)))
    yield asked(train, torch.tensor([1]), 5, "[1] is guessed, of 5 ids")
    nothing = torch.tensor([], dtype=torch.long)
    yield asked(nothing, torch.tensor([3]), 11, "nothing was seen: all 11 are alike")
    seen = torch.from_numpy(rng.integers(1, 6, size=60))
    held_out = torch.from_numpy(rng.integers(7, size=(4, 5)))
    held_out[:, 0] = torch.tensor([0, 5, 6, 0])
    yield asked(seen, held_out[2], 9, "60 ids seen, 5 guessed")
    yield asked(seen, held_out, 9, "60 ids seen, 4 x 5 guessed")
    holes = seen.where(torch.arange(60) % 3 > 0, -100)
    yield asked(holes, held_out, 9, "-100 among the ids seen")
    lengths = torch.tensor([[5], [2], [4], [1]])
    padded = held_out.where(torch.arange(5) < lengths, -100)
    yield asked(seen, padded, 9, "-100 among the ids to be guessed")
    less = holes.where(holes >= 0, -1).reshape(3, 20)
    yield asked(less, padded.where(padded >= 0, -2), 9, "-1 and -2 among them")
    yield asked(-1 - seen, held_out, 9, "all that was seen is negative")

    def refused(says, *args):
        return Case(says, lambda: solution(*args), raises=ValueError)

    yield refused("the id 9 of 9 was seen", torch.tensor([0, 9]), one, 9)
    yield refused("the id 9 of 9 is to be guessed", one, torch.tensor([0, 9]), 9)
    yield refused("none is to be guessed: only -100", train, torch.tensor([-100]), 2)
    yield refused("none is to be guessed: no id at all", train, nothing, 2)


def _kind(answer):
    return "float" if isinstance(answer, float) else type(answer).__name__
