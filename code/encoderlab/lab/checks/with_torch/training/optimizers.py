"""Check of chapter 15: which parameters decay."""

from collections import Counter

import torch
from torch import nn

from encoderlab.config import ImageConfig, TextConfig
from encoderlab.lab.case import Case, Property, WrongForm
from encoderlab.with_torch.encoder import ImageEncoder, TextEncoder
from encoderlab.with_torch.heads import TokenClassifier

WIDTHS = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2}


def decay_groups(solution, rng):
    decay = 0.25 + float(rng.random()) / 2
    # of one width, so that `p in weights` fails for what it is, not for the shapes
    small = nn.Sequential(nn.Embedding(3, 3), nn.Linear(3, 3), nn.LayerNorm(3))
    text = TextConfig(**WIDTHS, vocab_size=9, max_seq_len=7)
    image = ImageConfig(**WIDTHS, image_size=6, patch_size=3)
    shared = nn.Linear(4, 4)
    bert = nn.ModuleDict({"dense": nn.Linear(3, 3), "LayerNorm": nn.LayerNorm(3)})
    twice = nn.Sequential(shared, nn.LayerNorm(4), shared)
    tied = nn.Sequential(nn.Embedding(4, 4), nn.Linear(4, 4))
    tied[1].weight = tied[0].weight
    frozen = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    frozen[0].requires_grad_(False)
    table = nn.ParameterDict({"table": torch.ones(3, 3)})
    own = nn.ModuleDict({"map": nn.Linear(3, 3), "own": table})
    for says, module in (
        ("a table, a linear map and a norm", small),
        ("parts that are named as BERT's", bert),
        ("an encoder of texts with a head", TokenClassifier(TextEncoder(text), 5)),
        ("an encoder of images with a head", TokenClassifier(ImageEncoder(image), 4)),
        ("one linear map used twice", twice),
        ("a table that is a linear map's weight too", tied),
        ("a linear map that is frozen", frozen),
        ("a linear map, and a matrix that is none", own),
    ):
        yield Case(says, lambda module=module: _named(solution, module, decay))
    yield Case("weight_decay = 0", lambda: _named(solution, small, 0.0))
    yield Property(
        "they are the module's own parameters, not copies",
        lambda: (
            {id(p) for g in solution(small, decay) for p in g["params"]}
            == {id(p) for p in small.parameters()}
        ),
    )
    for wrong in (-0.1, float("nan"), float("inf")):
        says = f"weight_decay = {wrong}"
        yield Case(says, lambda w=wrong: solution(small, w), raises=ValueError)
    still = nn.Linear(4, 3).requires_grad_(False)
    says = "every parameter is frozen"
    yield Case(says, lambda: solution(still, decay), raises=ValueError)


def _named(solution, module, decay):
    """For each group its decay, and how often it holds which parameter."""
    groups = solution(module, decay)
    if not isinstance(groups, list) or len(groups) != 2:
        raise WrongForm("it must return a list of two groups")
    names = {id(p): name for name, p in module.named_parameters()}
    said = {}
    for place, group in enumerate(groups, start=1):
        if not isinstance(group, dict) or {"params", "weight_decay"} - set(group):
            raise WrongForm("a group is a dictionary with params and weight_decay")
        if group["weight_decay"] is None:
            raise WrongForm("weight_decay must be a number, not None")
        listed = Counter(names.get(id(p), "another") for p in group["params"])
        said[f"group {place}"] = dict(listed)
        said[f"its decay {place}"] = float(group["weight_decay"])
    return said
