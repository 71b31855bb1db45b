"""Checks of chapter 14: NumPy's parameters under the modules' names."""

from functools import partial

import numpy as np
import torch

from encoderlab.config import TextConfig
from encoderlab.lab.case import Case, Property, ask
from encoderlab.with_numpy.encoder import TextEncoder
from encoderlab.with_numpy.parameters import cast, parameters
from encoderlab.with_torch import encoder as modules

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2}
CONFIG = TextConfig(**SIZES, vocab_size=9, max_seq_len=7, num_segments=3)


def to_state_dict(solution, rng):
    def arrays(*names, shape=(3, 5)):
        return {name: rng.standard_normal(shape) for name in names}

    square = arrays("W_q", "W_k", "W_v", "W_o", shape=(4, 4))
    yield ask(solution, square, says="W_q, W_k, W_v and W_o, all 4 x 4")
    vectors = arrays("b_q", "b_k", "b_v", "b_o", "gamma", "beta", shape=4)
    yield ask(solution, vectors, says="b_q, b_k, b_v, b_o, gamma and beta")
    deep = arrays("layers.1.feed_forward.W_1")
    deep |= arrays("layers.0.feed_forward.b_2", shape=4)
    yield ask(solution, deep, says="names with a path before them")
    net = arrays("W_1", "W_2", "W", "W_patch")
    yield ask(solution, net, says="W_1, W_2, W and W_patch, 3 x 5")
    tables = arrays("W_token", "W_position", "W_segment")
    yield ask(solution, tables, says="the tables of embeddings, 3 x 5")
    alike = arrays("W_token", "W_position", "W_segment", shape=(4, 4))
    yield ask(solution, alike, says="the tables of embeddings, 4 x 4")
    other = arrays("b_1", "b_2", "b", "b_patch", "class_token", shape=4)
    yield ask(solution, other, says="b_1, b_2, b, b_patch and class_token")
    encoder = cast(TextEncoder(CONFIG, rng=np.random.default_rng(3)), np.float64)
    every = {k: rng.standard_normal(a.shape) for k, a in parameters(encoder).items()}
    yield ask(solution, every, says="every parameter of an encoder of texts")
    single = {name: array.astype(np.float32) for name, array in net.items()}
    yield Case("dtypes of float32 arrays", partial(_dtypes, solution, single))
    yield Case("dtypes of float64 arrays", partial(_dtypes, solution, net))
    yield Property(
        "load_state_dict takes the result",
        lambda: bool(modules.TextEncoder(CONFIG).load_state_dict(solution(every))),
    )
    yield Property(
        "what is written into an array later does not reach the tensors",
        lambda: _copied(solution, arrays("W_1", "gamma", "W_token")),
    )
    yield Property(
        "the tensors lie in memory row by row, as files of weights need it",
        lambda: all(
            torch.as_tensor(tensor).is_contiguous() for tensor in solution(net).values()
        ),
    )
    unknown = arrays("W_q", "attention.W_z")
    yield ask(solution, unknown, says="a parameter W_z, unknown", raises=ValueError)


def _dtypes(solution, weights):
    return [str(tensor.dtype) for tensor in solution(weights).values()]


def _copied(solution, weights):
    state = solution(weights)
    kept = {name: torch.as_tensor(tensor).clone() for name, tensor in state.items()}
    for array in weights.values():
        array[...] = 9
    return all(torch.equal(torch.as_tensor(state[name]), kept[name]) for name in kept)
