import numpy as np
import pytest
import torch

from encoderlab.with_torch.parameters import new_embedding, new_linear, to_state_dict


def test_new_linear_is_uniform_within_glorots_bound():
    linear, bound = new_linear(300, 200), (6 / 500) ** 0.5
    assert linear.weight.shape == (200, 300)
    assert not linear.bias.any()
    assert 0.99 * bound < linear.weight.abs().max() <= bound
    assert linear.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)


def test_new_embedding_has_the_spread_of_bert():
    table = new_embedding(3000, 12)
    assert table.weight.shape == (3000, 12)
    assert table.weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert abs(table.weight.mean().item()) < 1e-3


def test_to_state_dict_turns_matrices_and_keeps_tables():
    W, table = np.arange(12.0).reshape(4, 3), np.arange(8.0).reshape(2, 4)
    state = to_state_dict(
        {"layers.0.feed_forward.W_1": W, "embeddings.W_token": table, "b": np.ones(3)}
    )
    assert list(state) == [
        "layers.0.feed_forward.linear_1.weight",
        "embeddings.token.weight",
        "classifier.bias",
    ]
    turned, kept, bias = state.values()
    assert turned.tolist() == W.T.tolist()
    assert turned.is_contiguous()
    assert kept.tolist() == table.tolist()
    assert bias.dtype == torch.float64


def test_to_state_dict_copies():
    arrays = {"W_token": np.ones((2, 4), np.float32), "W_q": np.ones((4, 4))}
    state = to_state_dict(arrays)
    for array in arrays.values():
        array[...] = 5
    assert all((tensor == 1).all() for tensor in state.values())


def test_to_state_dict_refuses_an_unknown_name():
    with pytest.raises(ValueError, match=r"has these parameters: a\.W_x, pooler$"):
        to_state_dict({"a.W_x": np.ones(2), "norm.beta": np.ones(2), "pooler": 1})
