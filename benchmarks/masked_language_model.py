"""A small masked language model, and five others that differ in one thing each.

usage: masked_language_model.py [FILE]   (default: book/data/masked_language_model.json)

Each learns the bundled English for 2,000 steps with three seeds, about a minute a run.
The file says how they were trained and with which versions; chapter 16 plots it and
repeats one run. One thread, so that a rerun on the same machine gives the same numbers.
"""

import platform
from pathlib import Path

import torch
import torch.nn.functional as F
from results import file_from_command_line, write
from torch import nn

from encoderlab.config import TextConfig
from encoderlab.schedules import warmup_linear
from encoderlab.tasks.english import ENGLISH_SPECIALS, load_english
from encoderlab.with_torch.encoder import TextEncoder
from encoderlab.with_torch.feed_forward import ACTIVATIONS
from encoderlab.with_torch.heads import MaskedLanguageModel
from encoderlab.with_torch.loss import cross_entropy
from encoderlab.with_torch.training import (
    accuracy,
    decay_groups,
    fit,
    mask_tokens,
    minibatches,
    perplexity,
    unigram_perplexity,
)

DEFAULT = Path(__file__).parents[1] / "book" / "data" / "masked_language_model.json"
MODEL = {
    "d_model": 96,
    "num_heads": 4,
    "d_ff": 384,
    "num_layers": 2,
    "num_segments": 1,
    "max_seq_len": 16,
}
TRAINING = {
    "steps": 2000,
    "warmup_steps": 400,
    "lr": 2.5e-3,
    "weight_decay": 0.01,
    "batch_size": 48,
    "chosen": 0.40,
    "max_norm": 1.0,
}
HELD_OUT = {"chosen": 0.15, "seed": 1}
EVERY = 250  # steps between two measurements on the held-out text
KINDS = [
    "80/10/10",
    "[MASK] only",
    "15 % chosen",
    "decoder not tied",
    "loss at every word",
    "left side only",
]
SEEDS = [0, 1, 2]

ENGLISH = load_english(seq_len=MODEL["max_seq_len"])
TRAIN, TEST = map(torch.tensor, (ENGLISH.train_ids, ENGLISH.test_ids))
PAD, MASK = map(ENGLISH_SPECIALS.index, ("[PAD]", "[MASK]"))
SPECIAL = range(len(ENGLISH_SPECIALS))
MASKING = {"mask_id": MASK, "vocab_size": len(ENGLISH.words), "special_ids": SPECIAL}


class Untied(MaskedLanguageModel):
    """A masked language model whose decoder is a table of its own."""

    def __init__(self, encoder):
        super().__init__(encoder)
        table = encoder.embeddings.token.weight
        self.decoder = nn.Parameter(table.detach().clone())

    def decode(self, states):
        hidden = ACTIVATIONS[self.encoder.config.activation](self.transform(states))
        return F.linear(self.norm(hidden), self.decoder, self.bias)


def blanks():
    """The held-out text with every chosen word hidden, and the chosen words."""
    draws = torch.Generator().manual_seed(HELD_OUT["seed"])
    _, targets = mask_tokens(
        TEST, **MASKING, probability=HELD_OUT["chosen"], generator=draws
    )
    return TEST.masked_fill(targets != -100, MASK), targets


def run(kind, seed):
    """Train one model, and measure how it fills the blanks."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
    how, causal = TRAINING, kind == "left side only"
    chosen = 0.15 if kind == "15 % chosen" else how["chosen"]
    torch.manual_seed(seed)
    encoder = TextEncoder(TextConfig(**MODEL, vocab_size=len(ENGLISH.words)))
    model = (Untied if kind == "decoder not tied" else MaskedLanguageModel)(encoder)

    def scores(inputs, where):
        states = model.encoder(inputs, inputs != PAD, causal=causal).last_hidden_state
        return model.decode(states[where])

    def loss_of(inputs, targets):
        where = targets != -100
        return cross_entropy(scores(inputs, where), targets[where])

    def step(rows):
        ids = TRAIN[rows]
        inputs, targets = mask_tokens(ids, **MASKING, probability=chosen)
        if kind == "[MASK] only":
            inputs = ids.masked_fill(targets != -100, MASK)
        if kind == "loss at every word":
            targets = ids.masked_fill(ids < len(SPECIAL), -100)
        return loss_of(inputs, targets)

    def measure(done):
        held_out.append([done, round(perplexity(loss_of(*questions)), 2)])
        return held_out[-1][1]

    questions, held_out = blanks(), []
    epochs = 1 + how["steps"] * how["batch_size"] // len(TRAIN)
    losses = fit(
        step,
        minibatches(len(TRAIN), how["batch_size"], epochs, seed=seed)[: how["steps"]],
        torch.optim.AdamW(decay_groups(model, how["weight_decay"]), lr=how["lr"]),
        schedule=warmup_linear(how["warmup_steps"], how["steps"]),
        max_norm=how["max_norm"],
        progress=False,
        model=model,
        evaluate=measure,
        every=EVERY,
    )
    model.eval()
    with torch.no_grad():
        inputs, targets = questions
        hidden, visible = targets != -100, len(SPECIAL) <= TEST
        logits, words = scores(inputs, hidden), targets[hidden]
        named = accuracy(scores(TEST, visible), TEST[visible])
    return {
        "held_out": held_out,
        "first": round(accuracy(logits, words), 4),
        "visible_named": round(named, 4),
        "first_losses": [round(loss, 4) for loss in losses[:10].tolist()],
    }


def main():
    torch.set_num_threads(1)
    file = file_from_command_line(__doc__, DEFAULT)
    runs = []
    for kind in KINDS:
        for seed in SEEDS:
            runs.append({"kind": kind, "seed": seed} | run(kind, seed))
            print(runs[-1], flush=True)
    words = TRAIN[len(SPECIAL) <= TRAIN]
    report = {
        "made_by": f"benchmarks/{Path(__file__).name}",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__.partition("+")[0],
        },
        "data": "code/encoderlab/tasks/data/english.txt, by load_english",
        "threads": 1,
        "model": MODEL,
        "training": TRAINING,
        "held_out": HELD_OUT,
        "unigram": round(unigram_perplexity(words, blanks()[1], len(ENGLISH.words)), 2),
        "runs": runs,
    }
    write(file, report)


if __name__ == "__main__":
    main()
