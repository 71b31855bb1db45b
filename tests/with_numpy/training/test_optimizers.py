"""Optimisers make the same steps as torch's, and refuse what does not fit."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.encoder import ImageEncoder, TextEncoder
from encoderlab.with_numpy.parameters import cast, parameters
from encoderlab.with_numpy.training import SGD, Adam, AdamW, Group, decay_groups

SHAPES = {"W": (5, 7), "b": (7,)}
FACTORS = [0.5, 1.0, 1.0, 0.3, 0.1]


@pytest.fixture
def theta(rng):
    return {name: rng.standard_normal(shape) for name, shape in SHAPES.items()}


def run(ours, theirs, theta, tensors, rng):
    """Make five steps with both, the rate changing, and compare the parameters."""
    base = [group["lr"] for group in theirs.param_groups]
    for factor in FACTORS:
        gradients = {n: rng.standard_normal(s) for n, s in SHAPES.items()}
        for name, tensor in tensors.items():
            tensor.grad = torch.from_numpy(gradients[name].copy())
        for group, lr in zip(theirs.param_groups, base, strict=True):
            group["lr"] = lr * factor
        ours.step(gradients, factor)
        theirs.step()
        for name, tensor in tensors.items():
            assert_allclose(theta[name], tensor.detach(), rtol=1e-12, atol=1e-14)


def as_tensors(theta):
    return {name: torch.tensor(array) for name, array in theta.items()}


def test_sgd_matches_torch(theta, rng):
    tensors = as_tensors(theta)
    run(SGD(theta, 0.1), torch.optim.SGD(tensors.values(), 0.1), theta, tensors, rng)


def test_sgd_with_momentum_matches_torch(theta, rng):
    tensors = as_tensors(theta)
    theirs = torch.optim.SGD(tensors.values(), 0.1, momentum=0.9)
    run(SGD(theta, 0.1, momentum=0.9), theirs, theta, tensors, rng)


def test_adam_matches_torch(theta, rng):
    tensors = as_tensors(theta)
    options = {"lr": 0.02, "betas": (0.8, 0.95), "eps": 1e-3}
    theirs = torch.optim.Adam(tensors.values(), **options)
    run(Adam(theta, **options), theirs, theta, tensors, rng)


def test_adamw_with_groups_matches_torch(theta, rng):
    tensors = as_tensors(theta)
    ours = AdamW([Group({"W": theta["W"]}, 0.3), Group({"b": theta["b"]})], lr=0.02)
    groups = [
        {"params": [tensors["W"]], "weight_decay": 0.3},
        {"params": [tensors["b"]], "weight_decay": 0.0},
    ]
    run(ours, torch.optim.AdamW(groups, lr=0.02), theta, tensors, rng)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_first_step_of_adam_is_as_long_as_its_rate_whatever_the_gradient(size):
    theta = {"x": np.zeros(3)}
    Adam(theta, lr=0.1).step({"x": size * np.array([1.0, -1.0, 2.0])})
    assert_allclose(theta["x"], [-0.1, 0.1, -0.1], rtol=1e-4)


def test_decay_of_adamw_does_not_depend_on_the_gradient(rng):
    large, small = {"x": np.ones(3)}, {"x": np.ones(3)}
    for theta, size in ((large, 1e3), (small, 1e-3)):
        gradient = {"x": size * np.ones(3)}
        AdamW([Group(theta, 0.5)], lr=0.1, eps=1e-12).step(gradient)
    assert_allclose(large["x"], small["x"], rtol=1e-8)
    assert_allclose(large["x"], 0.95 - 0.1, rtol=1e-8)


@pytest.mark.parametrize("make", [SGD, Adam, lambda theta, lr: AdamW([Group(theta)])])
def test_optimizer_changes_the_layers_own_arrays_and_keeps_their_dtype(make):
    theta = {"x": np.ones(3, np.float32)}
    own = theta["x"]
    gradient = {"x": np.ones(3, np.float32)}
    make(theta, lr=0.1).step(gradient)
    assert theta["x"] is own
    assert own.dtype == np.float32
    assert (own < 1).all()
    assert_array_equal(gradient["x"], 1)


@pytest.mark.parametrize("make", [SGD, Adam, lambda theta, lr: AdamW([Group(theta)])])
def test_optimizer_refuses_gradients_that_do_not_fit_and_changes_nothing(theta, make):
    optimizer, before = make(theta, lr=0.1), theta["W"].copy()
    with pytest.raises(ValueError, match=r"missing: b\n  unknown: c"):
        optimizer.step({"W": np.ones((5, 7)), "c": np.ones(7)})
    with pytest.raises(
        ValueError, match=r"wrong shape: b, expected \(7,\), got \(5,\)"
    ):
        optimizer.step({"W": np.ones((5, 7)), "b": np.ones(5)})
    assert_array_equal(theta["W"], before)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: SGD(t, 0.0), "lr must be above 0 and finite, got 0"),
        (lambda t: SGD(t, np.nan), "lr must be above 0 and finite, got nan"),
        (lambda t: SGD(t, 0.1, momentum=1.0), r"momentum must be in \[0, 1\), got 1"),
        (lambda t: Adam(t, -1.0), "lr must be above 0 and finite, got -1"),
        (lambda t: Adam(t, betas=(0.9, 1.0)), r"each of betas must be in \[0, 1\)"),
        (lambda t: Adam(t, eps=0.0), "eps must be above 0 and finite, got 0"),
        (lambda t: AdamW([Group(t, -0.1)]), "weight_decay must be at least 0, got -0"),
        (lambda t: SGD(t, np.inf), "lr must be above 0 and finite, got inf"),
        (lambda t: AdamW([Group(t), Group(t)]), "these are in two groups: W, b"),
        (lambda t: Adam({"x": t["W"], "y": t["W"]}), "x and y are one array, which"),
    ],
)
def test_optimizer_refuses_numbers_out_of_range(theta, make, message):
    with pytest.raises(ValueError, match=message):
        make(theta)


def test_decay_groups_sort_by_kind_and_forget_nothing(rng, text_config, image_config):
    for encoder in (
        TextEncoder(text_config, rng=rng),
        ImageEncoder(image_config, rng=rng),
    ):
        matrices, vectors = decay_groups(encoder, 0.01)
        assert (matrices.weight_decay, vectors.weight_decay) == (0.01, 0.0)
        assert {*matrices.parameters, *vectors.parameters} == {*parameters(encoder)}
        undecayed = ("gamma", "beta", "class_token")
        for name in vectors.parameters:
            last = name.rpartition(".")[2]
            assert last in undecayed or last.startswith("b_")
        assert all(".W_" in "." + name for name in matrices.parameters)


def test_optimizer_refuses_what_it_could_not_change(theta, without_shape_checks):
    with pytest.raises(TypeError, match="x must be a floating array, got int64"):
        SGD({"x": np.arange(3)}, 0.1)
    with pytest.raises(TypeError, match="x must be a floating array, got float64"):
        SGD({"x": np.float64(3.0)}, 0.1)
    theta["b"].flags.writeable = False
    with pytest.raises(ValueError, match="b is read-only; give a copy"):
        Adam(theta)


def test_adamw_refuses_parameters_that_are_in_no_group(theta, without_shape_checks):
    message = r"must hold Group objects, got str; make them with decay_groups\(layer"
    with pytest.raises(TypeError, match=message):
        AdamW(theta)


def test_cast_to_the_same_dtype_leaves_the_optimizers_arrays_in_place(rng, text_config):
    encoder = TextEncoder(text_config, rng=rng)
    before = parameters(encoder)
    cast(encoder, np.float32)
    assert all(array is before[name] for name, array in parameters(encoder).items())
