"""What attention is asked about dropout, in whatever order its places are drawn."""

import torch

from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import close, draw, in_training, own_chance

ALL = {"keywords": {"need_weights": True}}


def dropout_of_weights(solution, rng):
    """Ask attention for dropout of its weights."""
    q, k = draw(rng, 40, 4), draw(rng, 60, 4)
    twice = torch.eye(60, dtype=torch.float64).repeat(1, 2)
    seed = int(rng.integers(2**31))

    def dropped(need_weights=True):
        with own_chance(seed):
            how = {"dropout_p": 0.2, "need_weights": need_weights}
            return solution(q, k, twice, **how)

    def factors():
        context, weights = dropped()
        return context[:, :60] / weights

    yield Case("with dropout on, the weights before it", lambda: dropped()[1])
    yield Case("factors of dropout 0.2", lambda: values(factors()))
    yield Case("share of dropped weights, 0.2", lambda: share(factors()))
    yield Property(
        "dropout drops weights, so equal columns of values give equal results",
        lambda: close(dropped()[0][:, :60], dropped()[0][:, 60:]),
    )
    yield Case(
        "share of dropped weights, 0.2, where they are not returned",
        lambda: share(dropped(need_weights=False)[0]),
    )


def values(factors):
    """The different factors, at most 5 of them."""
    return factors.double().round(decimals=6).unique()[:5]


def share(factors):
    """The share of zeros, to one decimal: free of how they were drawn."""
    return round(float((factors == 0).double().mean()), 1)


def dropout_of_heads(built, rng):
    """Ask a module for dropout of its weights, in training alone."""
    module, x = built(dropout=0.2), draw(rng, 2, 5, 12, scale=0.6)
    yield ask(module, x, says="dropout 0.2, in evaluation: off", **ALL)
    seed = int(rng.integers(2**31))

    def trained(module, x):
        return in_training(module, x, need_weights=True, seed=seed)

    yield Case("in training, the weights before dropout", lambda: trained(module, x)[1])
    plain = built(dropout=0.2)
    with torch.no_grad():
        for name, parameter in plain.named_parameters():
            parameter.copy_(0 * parameter if "bias" in name else torch.eye(12))
    one = 1 + torch.from_numpy(rng.random((800, 1, 12)))

    def factors():
        return (trained(plain, one)[0] / one).detach().reshape(800, 3, 4)

    yield Case(
        "in training, one token a sequence: factors of its weight",
        lambda: values(factors()),
    )
    yield Case("share of dropped weights, 0.2", lambda: share(factors()))
    yield Property(
        "dropout drops a head's weight: its 4 values together, not singly",
        lambda: close(factors().amax(-1), factors().amin(-1)),
    )
    yield Property(
        "each head drops its own weights",
        lambda: bool((factors().std(-2) > 0.1).any()),
    )
