"""What goes wrong with the groups of an optimiser in PyTorch."""

from torch import nn

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch.training import optimizers as ours


def sorted_by(name, *, frozen=False):
    """Enter groups made by a rule: the names of all that decays."""

    def build(rule):
        def decay_groups(module, weight_decay):
            ours.decay_groups(module, weight_decay)  # the errors
            decaying = set(rule(module))
            every = module.named_parameters()
            named = [(n, p) for n, p in every if frozen or p.requires_grad]
            return [
                {
                    "params": [p for n, p in named if (n in decaying) is decays],
                    "weight_decay": weight_decay if decays else 0.0,
                }
                for decays in (True, False)
            ]

        return decay_groups

    return wrong("decay_groups", name, build)


def right(module):
    """The names of what decays."""
    of = {id(p) for p in ours.decay_groups(module, 1.0)[0]["params"]}
    return [n for n, p in module.named_parameters() if id(p) in of]


@sorted_by("by_axes")
def _(module):
    """you let all that has two axes decay: tables of embeddings as well

    ask for the kind of the module, nn.Linear, not for the shape
    """
    return [n for n, p in module.named_parameters() if p.ndim > 1]


@sorted_by("by_name")
def _(module):
    """you go by names: a norm that is not called LayerNorm decays

    ask for the kind of the module
    """
    return [
        n
        for n, _ in module.named_parameters()
        if "bias" not in n and "LayerNorm.weight" not in n
    ]


@sorted_by("all_but_biases")
def _(module):
    """you let all but the biases decay: norms and tables do not decay either

    only the weights of linear maps decay
    """
    return [n for n, _ in module.named_parameters() if not n.endswith("bias")]


@sorted_by("matrices_but_tables")
def _(module):
    """you let every matrix decay that is no table of an nn.Embedding

    ask for nn.Linear: a module may hold other matrices, such as learned positions
    """
    tables = {id(m.weight) for m in module.modules() if isinstance(m, nn.Embedding)}
    named = module.named_parameters()
    return [n for n, p in named if p.ndim > 1 and id(p) not in tables]


@sorted_by("everything")
def _(module):
    """you let everything decay

    only the weights of linear maps decay
    """
    return [n for n, _ in module.named_parameters()]


@sorted_by("biases_too")
def _(module):
    """you let the biases of the linear maps decay with their weights

    take the module's weight, not its parameters()
    """
    linear = [n for n, m in module.named_modules() if isinstance(m, nn.Linear)]
    biases = {f"{n}.bias".lstrip(".") for n in linear}
    return {*right(module), *biases}


@sorted_by("top_level_alone")
def _(module):
    """you look at the module's direct children: what lies deeper does not decay

    module.modules() goes all the way down, children() does not
    """
    direct = dict(module.named_children())
    return [n for n in right(module) if n.rpartition(".")[0] in direct]


def weights_of(modules, module):
    """The names of the weights of the linear maps among some modules."""
    maps = {id(m.weight) for m in modules if isinstance(m, nn.Linear)}
    return [n for n, p in module.named_parameters() if id(p) in maps]


@sorted_by("tied_decays")
def _(module):
    """you let a table decay because it is a linear map's weight too

    take the weights of nn.Embedding out again
    """
    return weights_of(module.modules(), module)


@sorted_by("tied_decays_frozen_listed", frozen=True)
def _(module):
    """you list what is frozen, and let a table decay that is a linear map's weight too

    leave out what has requires_grad False, and let no weight of an nn.Embedding decay
    """
    return weights_of(module.modules(), module)


@sorted_by("top_level_alone_tied")
def _(module):
    """you look at the module's direct children, and let a tied table decay

    modules() goes all the way down; take the weights of nn.Embedding out again
    """
    return weights_of(module.children(), module)


@sorted_by("top_level_alone_tied_frozen", frozen=True)
def _(module):
    """you look at the module's direct children, and list what is frozen

    modules() goes all the way down; leave out what has requires_grad False
    """
    return weights_of(module.children(), module)


@sorted_by("frozen_listed", frozen=True)
def _(module):
    """you list what is frozen, the weights among what decays

    leave out what has requires_grad False
    """
    tables = {id(m.weight) for m in module.modules() if isinstance(m, nn.Embedding)}
    tied = {n for n, p in module.named_parameters() if id(p) in tables}
    return {*weights_of(module.modules(), module)} - tied


@sorted_by("weight_not_norm")
def _(module):
    """you go by names: what has "weight" in its name and not "norm" decays

    ask for the kind of the module
    """
    names = [n for n, _ in module.named_parameters()]
    return [n for n in names if "weight" in n and "norm" not in n]


@sorted_by("weight_not_norm_lower")
def _(module):
    """you go by names, in small letters: "weight" and not "norm"; tables decay

    ask for the kind of the module: a norm may have any name
    """
    names = [n for n, _ in module.named_parameters()]
    return [n for n in names if "weight" in n and "norm" not in n.lower()]


@sorted_by("neither_bias_nor_norm")
def _(module):
    """you go by names: what has neither "bias" nor "norm" in its name decays

    ask for the kind of the module
    """
    names = [n for n, _ in module.named_parameters()]
    return [n for n in names if "bias" not in n and "norm" not in n]


@sorted_by("neither_bias_nor_norm_lower")
def _(module):
    """you go by names, in small letters: neither "bias" nor "norm"; tables decay

    ask for the kind of the module: a norm may have any name
    """
    names = [n for n, _ in module.named_parameters()]
    return [n for n in names if "bias" not in n and "norm" not in n.lower()]


@wrong("decay_groups")
def exempt_first(module, weight_decay):
    """you return the group that does not decay first

    first what decays, then what does not
    """
    return ours.decay_groups(module, weight_decay)[::-1]


@wrong("decay_groups")
def tied_in_both(module, weight_decay):
    """you put a tied table into both groups: two modules have it

    note what stands in a group already; a tied table does not decay
    """
    ours.decay_groups(module, weight_decay)  # the errors
    decaying, exempt = [], []
    for part in module.modules():
        for name, p in part.named_parameters(recurse=False):
            if p.requires_grad:
                decays = isinstance(part, nn.Linear) and name == "weight"
                (decaying if decays else exempt).append(p)
    return [
        {"params": decaying, "weight_decay": weight_decay},
        {"params": exempt, "weight_decay": 0.0},
    ]


@wrong("decay_groups")
def empty_dropped(module, weight_decay):
    """you leave out a group without parameters

    there are always two; an optimiser takes an empty one
    """
    return [g for g in ours.decay_groups(module, weight_decay) if g["params"]]


@wrong("decay_groups")
def exempt_unsaid(module, weight_decay):
    """you give the second group no weight_decay: it gets the optimiser's own

    write its 0 down: torch.optim.AdamW's own is 0.01
    """
    decaying, exempt = ours.decay_groups(module, weight_decay)
    return [decaying, {"params": exempt["params"]}]


@wrong("decay_groups")
def swapped(module, weight_decay):
    """you give the decay to the wrong group

    the weights of linear maps decay, all else has weight_decay 0
    """
    decaying, exempt = ours.decay_groups(module, weight_decay)
    return [
        {"params": decaying["params"], "weight_decay": 0.0},
        {"params": exempt["params"], "weight_decay": weight_decay},
    ]


@wrong("decay_groups")
def default_left(module, weight_decay):
    """you give both groups the decay

    the second group has weight_decay 0
    """
    groups = ours.decay_groups(module, weight_decay)
    return [group | {"weight_decay": weight_decay} for group in groups]


@wrong("decay_groups")
def rest_forgotten(module, weight_decay):
    """you leave out what does not decay: it would never be trained

    put the other parameters into the second group
    """
    decaying, exempt = ours.decay_groups(module, weight_decay)
    return [decaying, exempt | {"params": []}]


@wrong("decay_groups")
def in_both(module, weight_decay):
    """you put what decays into both groups; torch.optim refuses that

    the second group holds the parameters that are not in the first
    """
    decaying, exempt = ours.decay_groups(module, weight_decay)
    return [decaying, exempt | {"params": decaying["params"] + exempt["params"]}]


@wrong("decay_groups")
def shared_twice(module, weight_decay):
    """you list a parameter as often as it is used

    module.parameters() gives each one once; walking through named_modules with their
    own duplicates does not
    """
    groups = ours.decay_groups(module, weight_decay)
    names = dict(module.named_parameters(remove_duplicate=False))
    return [
        group | {"params": [p for p in names.values() if _in(p, group["params"])]}
        for group in groups
    ]


@wrong("decay_groups")
def frozen_too(module, weight_decay):
    """you list what is frozen in the second group

    leave out what has requires_grad False
    """
    groups = ours.decay_groups(module, weight_decay)
    frozen = [p for p in module.parameters() if not p.requires_grad]
    return [groups[0], groups[1] | {"params": groups[1]["params"] + frozen}]


@wrong("decay_groups")
def negative_accepted(module, weight_decay):
    """you accept a negative decay, under which weights grow

    raise ValueError unless it is at least 0 and finite
    """
    groups = ours.decay_groups(module, abs(weight_decay))
    return [groups[0] | {"weight_decay": weight_decay}, groups[1]]


def _in(parameter, listed):
    return any(parameter is p for p in listed)
