"""Trains in child processes that are killed, and says whether it made a difference.

A process of its own, which forks: torch is imported once, and no test's threads are
there to be lost. Called with a folder to write to and a seed.
"""

import os
import random
import signal
import sys
from pathlib import Path

import torch

from encoderlab.config import TextConfig
from encoderlab.schedules import warmup_linear
from encoderlab.with_torch.encoder import TextEncoder
from encoderlab.with_torch.heads import TokenClassifier
from encoderlab.with_torch.loss import cross_entropy
from encoderlab.with_torch.training import (
    EarlyStopping,
    decay_groups,
    fit,
    mask_tokens,
    minibatches,
)

STEPS, SAVE_EVERY = 40, 3
CONFIG = TextConfig(
    d_model=12,
    num_heads=3,
    d_ff=11,
    num_layers=2,
    dropout=0.3,
    vocab_size=23,
    max_seq_len=9,
)
IDS = torch.randint(3, 23, (24, 7), generator=torch.Generator().manual_seed(0))


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def train(checkpoint, result, die_at=None, while_writing=None):
    """Train, and store the final weights; die at a step, or at a point of a write."""
    torch.manual_seed(1)
    model = TokenClassifier(TextEncoder(CONFIG), 23)
    calls = 0

    def step(rows):
        nonlocal calls
        calls += 1
        if calls == die_at and while_writing is None:
            die()
        if calls == die_at:
            spoil(while_writing)
        inputs, targets = mask_tokens(
            IDS[rows], mask_id=2, vocab_size=23, special_ids={0, 1, 2}, probability=0.5
        )
        return cross_entropy(model(inputs), targets, ignore_index=-100)

    stopping = EarlyStopping(99)
    losses = fit(
        step,
        minibatches(24, 5, 8, seed=2),
        torch.optim.AdamW(decay_groups(model, 0.1), lr=0.01),
        schedule=warmup_linear(4, STEPS),
        max_norm=1.0,
        model=model,
        evaluate=lambda done: model(IDS).square().mean().item(),
        every=5,
        stopping=stopping,
        checkpoint=checkpoint,
        save_every=SAVE_EVERY,
    )
    state = dict(model.state_dict(), losses=losses, **stopping.state())
    content = b"".join(
        f"{k}{v.numpy().tobytes()}".encode() for k, v in sorted(state.items())
    )
    result.write_bytes(content)


def spoil(point):
    """Make the next write end in the middle, or just before or after it counts."""
    if point == "half":
        whole = Path.open

        def half(self, *args, **options):
            file = whole(self, *args, **options)
            write = file.write

            def die_halfway(content):
                write(content[: len(content) // 2])
                file.flush()
                die()

            file.write = die_halfway
            return file

        Path.open = half
    elif point == "before":
        os.replace = lambda *_: die()
    else:
        replace = os.replace
        os.replace = lambda *paths: (replace(*paths), die())


def in_child(*arguments):
    """Run `train` in a process of its own; say whether it lived to the end."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            train(*arguments)
            code = 0
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(status) == 0
    return True


def main():
    folder, rng = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
    torch.set_num_threads(1)
    torch.optim.AdamW([torch.zeros(1)])  # the first imports much: once for all children
    assert in_child(folder / "whole.safetensors", folder / "whole")
    expected = (folder / "whole").read_bytes()
    checkpoint, result = folder / "model.safetensors", folder / "result"
    deaths = 0
    for point in [None, "half", "before", "after", None, "half", "before", None]:
        deaths += not in_child(checkpoint, result, rng.randint(1, 6), point)
    while not in_child(checkpoint, result, rng.randint(4, 9)):
        deaths += 1
    assert result.read_bytes() == expected
    assert in_child(checkpoint, folder / "again")  # there is nothing left to do
    assert (folder / "again").read_bytes() == expected
    print(deaths)


if __name__ == "__main__":
    main()
