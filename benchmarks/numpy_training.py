"""A training step in our NumPy against the same step in torch, eager: time and memory.

usage: numpy_training.py [--json FILE] [--runs N]

One step is a batch of images through a small vision transformer, the cross-entropy, the
way back, clipping and AdamW. Both start from the same weights, and the first losses are
compared, so that both do the same work.
"""

import argparse
from statistics import median

import numpy as np
from interleave import answer, compare, write_report

# image, patch, width, heads, layers, batch
SHAPES = [
    (8, 4, 32, 4, 2, 32),  # the digits of chapter 13
    (8, 2, 32, 4, 2, 32),
    (32, 4, 128, 4, 4, 32),
    (32, 4, 256, 8, 4, 16),
]
NAMES = ["numpy", "torch"]
NUM_CLASSES = 10


def our_model(image_size, patch_size, d_model, num_heads, num_layers):
    from encoderlab.config import ImageConfig
    from encoderlab.with_numpy.encoder import ImageEncoder
    from encoderlab.with_numpy.heads import TokenClassifier

    rng = np.random.default_rng(0)
    config = ImageConfig(
        d_model=d_model,
        num_heads=num_heads,
        d_ff=4 * d_model,
        num_layers=num_layers,
        image_size=image_size,
        patch_size=patch_size,
    )
    return TokenClassifier(ImageEncoder(config, rng=rng), NUM_CLASSES, rng=rng)


def numpy_step(model, images, labels):
    from encoderlab.with_numpy.training import (
        AdamW,
        clip_gradients,
        decay_groups,
        loss_and_gradients,
    )

    targets = np.full((len(labels), 1 + model.encoder.config.num_patches), -100)
    targets[:, 0] = labels
    optimizer = AdamW(decay_groups(model, 0.01), lr=1e-3)

    def step():
        loss, gradients = loss_and_gradients(model, (images,), targets)
        optimizer.step(clip_gradients(gradients, 1.0)[0])
        return float(loss)

    return step


def torch_step(model, images, labels):
    import torch
    from torch import nn
    from torch.nn import functional

    from encoderlab.with_numpy.parameters import parameters

    weights = {n: torch.tensor(array) for n, array in parameters(model).items()}
    encoder, config = model.encoder, model.encoder.config
    stack = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(
            config.d_model,
            config.num_heads,
            config.d_ff,
            dropout=0.0,
            activation="gelu",
            layer_norm_eps=config.eps,
            batch_first=True,
            norm_first=True,
        ),
        config.num_layers,
        nn.LayerNorm(config.d_model, config.eps),
        enable_nested_tensor=False,
    )
    for i, (layer, ours) in enumerate(zip(stack.layers, encoder.layers, strict=True)):
        w = {n: weights[f"encoder.layers.{i}.{n}"] for n in parameters(ours)}
        with torch.no_grad():
            packed = torch.cat([w[f"attention.W_{part}"].T for part in "qkv"])
            layer.self_attn.in_proj_weight.copy_(packed)
            layer.self_attn.out_proj.weight.copy_(w["attention.W_o"].T)
            layer.linear1.weight.copy_(w["feed_forward.W_1"].T)
            layer.linear2.weight.copy_(w["feed_forward.W_2"].T)
            layer.self_attn.in_proj_bias.zero_()  # as all biases of a new NumPy layer
            for module in (layer.self_attn.out_proj, layer.linear1, layer.linear2):
                module.bias.zero_()
    patch = nn.Linear(*model.encoder.embeddings.W_patch.shape)
    head = nn.Linear(config.d_model, NUM_CLASSES)
    with torch.no_grad():
        patch.weight.copy_(weights["encoder.embeddings.W_patch"].T)
        head.weight.copy_(weights["W"].T)
        patch.bias.zero_()
        head.bias.zero_()
    class_token = nn.Parameter(weights["encoder.embeddings.class_token"])
    positions = nn.Parameter(weights["encoder.embeddings.W_position"])
    everything = [*stack.parameters(), *patch.parameters(), *head.parameters()]
    everything += [class_token, positions]
    groups = [
        {"params": [p for p in everything if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in everything if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1e-3)
    images, labels = torch.from_numpy(images), torch.from_numpy(labels)
    size = config.patch_size

    def step():
        patches = functional.unfold(images, size, stride=size).transpose(1, 2)
        first = class_token.expand(len(images), 1, -1)
        x = torch.cat([first, patch(patches)], dim=1) + positions
        loss = functional.cross_entropy(head(stack(x)[:, 0]), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(everything, 1.0)
        optimizer.step()
        return loss.item()

    return step


def steps(names, image_size, patch_size, d_model, num_heads, num_layers, batch):
    """One step of each implementation, on the same images with the same weights."""
    rng = np.random.default_rng(1)
    images = rng.standard_normal((batch, 1, image_size, image_size), np.float32)
    labels = rng.integers(NUM_CLASSES, size=batch)
    sizes = image_size, patch_size, d_model, num_heads, num_layers
    makers = {"numpy": numpy_step, "torch": torch_step}
    return [makers[name](our_model(*sizes), images, labels) for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument("--runs", type=int, default=15, help="of each (default: 15)")
    parser.add_argument("--worker", nargs=1 + len(SHAPES[0]), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        name, *sizes = options.worker
        return answer(steps([name], *map(int, sizes))[0])
    print("pixels patch width heads layers batch   numpy ms  torch ms  ratio  memory")
    results = []
    for shape in SHAPES:
        row = compare(__file__, NAMES, shape, options.runs)
        results.append({"shape": shape, **row})
        ours, theirs = (1000 * row["seconds"][name] for name in NAMES)
        print(
            "{:6d} {:5d} {:5d} {:5d} {:6d} {:5d}".format(*shape),
            f"{ours:10.2f} {theirs:9.2f} {row['ratio']:6.2f} {row['peak_ratio']:7.2f}",
            flush=True,
        )
    # at the end, since a worker inherits the peak memory of the process that starts it
    for shape in SHAPES:
        losses = [[step() for _ in range(3)] for step in steps(NAMES, *shape)]
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)
    middle = median(row["ratio"] for row in results)
    print(f"median ratio {middle:.2f}")
    if options.json:
        packages = ["numpy", "scipy", "torch"]
        write_report(
            options.json,
            packages,
            runs=options.runs,
            median_ratio=middle,
            shapes=results,
        )


if __name__ == "__main__":
    main()
