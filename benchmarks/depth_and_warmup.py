"""Twelve layers, pre- and post-norm, with and without warm-up, three seeds each.

usage: depth_and_warmup.py [FILE]     (default: book/data/depth_and_warmup.json)

Small vision transformers learn the bundled digits for a few hundred steps. The file
says how they were trained and with which versions; chapter 15 plots it and repeats one
run. One thread, so that a rerun on the same machine gives the same numbers.
"""

import platform
from importlib.metadata import version
from pathlib import Path

import torch
from results import file_from_command_line, write

from encoderlab.config import ImageConfig
from encoderlab.schedules import warmup_linear
from encoderlab.tasks import load_digits
from encoderlab.with_torch.encoder import ImageEncoder
from encoderlab.with_torch.heads import SequenceClassifier
from encoderlab.with_torch.loss import cross_entropy
from encoderlab.with_torch.training import accuracy, decay_groups, fit, minibatches

DEFAULT = Path(__file__).parents[1] / "book" / "data" / "depth_and_warmup.json"
MODEL = {
    "d_model": 32,
    "num_heads": 4,
    "d_ff": 64,
    "num_layers": 12,
    "image_size": 8,
    "patch_size": 4,
}
TRAINING = {
    "lr": 3e-3,
    "weight_decay": 0.01,
    "batch_size": 64,
    "epochs": 6,
    "warmup_steps": 40,
    "max_norm": 1.0,
}
SEEDS = [0, 1, 2]


def run(norm_first, warm_up, seed):
    """Train one model; its losses and the share of test images that it reads."""
    digits, how = load_digits(), TRAINING
    images, labels = map(torch.tensor, (digits.train_images, digits.train_labels))
    torch.manual_seed(seed)
    encoder = ImageEncoder(ImageConfig(**MODEL, norm_first=norm_first))
    model = SequenceClassifier(encoder, 10)
    batches = minibatches(len(images), how["batch_size"], how["epochs"], seed=seed)
    warmup_steps = how["warmup_steps"] if warm_up else 0
    losses = fit(
        lambda rows: cross_entropy(model(images[rows]), labels[rows]),
        batches,
        torch.optim.AdamW(decay_groups(model, how["weight_decay"]), lr=how["lr"]),
        schedule=warmup_linear(warmup_steps, len(batches)),
        max_norm=how["max_norm"],
        progress=False,
        model=model.train(),
    )
    with torch.no_grad():
        logits = model.eval()(torch.tensor(digits.test_images))
    return losses, accuracy(logits, torch.tensor(digits.test_labels))


def main():
    torch.set_num_threads(1)
    file = file_from_command_line(__doc__, DEFAULT)
    runs = []
    for norm_first in (True, False):
        for warm_up in (True, False):
            for seed in SEEDS:
                losses, score = run(norm_first, warm_up, seed)
                about = {"norm_first": norm_first, "warm_up": warm_up, "seed": seed}
                rounded = [round(loss, 4) for loss in losses.tolist()]
                runs.append(about | {"accuracy": round(score, 4), "losses": rounded})
                print(about, f"accuracy {score:.3f}", flush=True)
    report = {
        "made_by": f"benchmarks/{Path(__file__).name}",
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__.partition("+")[0],
            "scikit-learn": version("scikit-learn"),
        },
        "data": "the digits of scikit-learn, split by encoderlab.tasks.load_digits",
        "threads": 1,
        "model": MODEL,
        "training": TRAINING,
        "runs": runs,
    }
    write(file, report)


if __name__ == "__main__":
    main()
