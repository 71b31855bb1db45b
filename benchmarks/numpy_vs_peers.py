"""MiniLM in our NumPy against transformers' BertModel: time and peak memory.

usage: numpy_vs_peers.py [--json FILE] [--runs N]
"""

import argparse
from statistics import median

from interleave import answer, compare, write_report

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
    """Read the same ids again and again."""
    import numpy as np

    encode = {"numpy": numpy_encoder, "transformers": transformers_encoder}[name]()
    token_ids = np.random.default_rng(0).integers(1000, 30000, (batch, length))
    answer(lambda: encode(token_ids))


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
        row = compare(__file__, NAMES, (batch, length), options.runs)
        results.append({"batch": batch, "length": length, **row})
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
        write_report(
            options.json,
            packages,
            runs=options.runs,
            median_ratio=middle,
            shapes=results,
        )


if __name__ == "__main__":
    main()
