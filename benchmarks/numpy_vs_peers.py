"""MiniLM in our NumPy against transformers' BertModel: time and peak memory.

usage: numpy_vs_peers.py [--json FILE] [--runs N]

Each implementation runs in a process of its own, one pair of processes a shape. They
take turns, so that a machine that slows down slows both; the minimum of the runs
counts. Both may use every core. The variables that pin OpenBLAS to one kind of core are
unset in both: where a machine sets them, they are for other, older programs.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from statistics import median

SHAPES = [(1, 16), (32, 32), (8, 128), (4, 256)]  # batch, length
NAMES = ["numpy", "transformers"]


def numpy_encoder():
    from encoderlab.pretrained import load
    from encoderlab.with_numpy.encoder import TextEncoder

    encoder = TextEncoder.from_checkpoint(load("minilm-l6"))
    return lambda token_ids: encoder(token_ids).last_hidden_state


def transformers_encoder():
    import torch
    from transformers import BertConfig, BertModel

    from encoderlab.pretrained import load

    checkpoint = load("minilm-l6")
    config = checkpoint.config
    model = BertModel(
        BertConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.d_model,
            num_hidden_layers=config.num_layers,
            num_attention_heads=config.num_heads,
            intermediate_size=config.d_ff,
            layer_norm_eps=config.eps,
        ),
        add_pooling_layer=False,
    ).eval()

    def encode(token_ids):
        with torch.inference_mode():
            return model(input_ids=torch.from_numpy(token_ids)).last_hidden_state

    return encode


def work(name, batch, length):
    """Answer each line on standard input with the seconds that one run took."""
    import numpy as np

    encode = {"numpy": numpy_encoder, "transformers": transformers_encoder}[name]()
    token_ids = np.random.default_rng(0).integers(1000, 30000, (batch, length))
    encode(token_ids)
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        encode(token_ids)
        print(time.perf_counter() - start, flush=True)
    unit = (
        1 if sys.platform == "darwin" else 1024
    )  # ru_maxrss: bytes there, kB elsewhere
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, flush=True)


def start(name, batch, length):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    worker = subprocess.Popen(
        [sys.executable, __file__, "--worker", name, str(batch), str(length)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    if worker.stdout.readline() != "ready\n":
        sys.exit(f"the {name} worker did not start; its message is above")
    return worker


def compare(batch, length, runs):
    """Best seconds and peak bytes of each implementation."""
    workers = {name: start(name, batch, length) for name in NAMES}
    seconds = {name: [] for name in NAMES}
    for _ in range(runs):
        for name, worker in workers.items():
            print("run", file=worker.stdin, flush=True)
            seconds[name].append(float(worker.stdout.readline()))
            time.sleep(0.05)  # threads that wait for work keep a core busy for a while
    peaks = {name: int(worker.communicate()[0]) for name, worker in workers.items()}
    best = {name: min(times) for name, times in seconds.items()}
    return {
        "batch": batch,
        "length": length,
        "seconds": best,
        "ratio": best["numpy"] / best["transformers"],
        "peak_bytes": peaks,
        "peak_ratio": peaks["numpy"] / peaks["transformers"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument("--runs", type=int, default=9, help="runs of each (default: 9)")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        name, batch, length = options.worker
        return work(name, int(batch), int(length))
    print("batch x length   numpy ms  transformers ms  ratio   peak MB       ratio")
    results = []
    for batch, length in SHAPES:
        row = compare(batch, length, options.runs)
        results.append(row)
        ours, theirs = (1000 * row["seconds"][name] for name in NAMES)
        memory = [row["peak_bytes"][name] / 1e6 for name in NAMES]
        print(
            f"{batch:5d} x {length:<7d} {ours:9.1f} {theirs:16.1f} {row['ratio']:6.2f}"
            f"   {memory[0]:4.0f} / {memory[1]:4.0f}  {row['peak_ratio']:5.2f}",
            flush=True,
        )
    middle = median(row["ratio"] for row in results)
    print(f"median ratio {middle:.2f}")
    if options.json:
        packages = ["numpy", "scipy", "torch", "transformers"]
        report = {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "versions": {name: version(name) for name in packages},
            "runs": options.runs,
            "median_ratio": middle,
            "shapes": results,
        }
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
