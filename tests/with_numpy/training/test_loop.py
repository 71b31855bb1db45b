"""The training loop: what it calls, in which order, and that it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.tasks import load_digits
from encoderlab.with_numpy.encoder import ImageEncoder, TextEncoder
from encoderlab.with_numpy.gradients import check_gradient
from encoderlab.with_numpy.heads import TokenClassifier
from encoderlab.with_numpy.loss import cross_entropy
from encoderlab.with_numpy.parameters import cast, parameters
from encoderlab.with_numpy.training import (
    SGD,
    Adam,
    accuracy,
    clip_gradients,
    fit,
    loss_and_gradients,
    minibatches,
)

IDS = np.array([[4, 0, 4, 4, 6], [1, 4, 0, 2, 2]])
REAL = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
TARGETS = np.array([[0, -100, 3, -100, -100], [-100, 2, -100, 1, 1]])


@pytest.fixture
def bowl():
    """A parabola to roll down, and its one step."""
    theta = {"x": np.array([4.0, -2.0])}

    def step(batch):
        return (theta["x"] ** 2).sum(), {"x": 2 * theta["x"]}

    return theta, step


# Clipping


def test_clip_gradients_shortens_all_by_one_factor(rng):
    gradients = {"a": rng.standard_normal((3, 4)), "b": rng.standard_normal(5)}
    together = np.concatenate([array.ravel() for array in gradients.values()])
    clipped, norm = clip_gradients(gradients, 0.5)
    assert norm == pytest.approx(np.linalg.norm(together))
    for name, array in clipped.items():
        assert_allclose(array, gradients[name] * (0.5 / norm), rtol=1e-12)


def test_clip_gradients_leaves_short_ones_alone():
    gradients = {"a": np.array([3.0]), "b": np.array([4.0])}
    clipped, norm = clip_gradients(gradients, 5.0)
    assert norm == 5.0
    assert_array_equal(clipped["a"], gradients["a"])


def test_clip_gradients_keeps_float32():
    clipped, _ = clip_gradients({"a": np.full(3, 9, np.float32)}, 1.0)
    assert clipped["a"].dtype == np.float32


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_clip_gradients_reports_what_is_not_finite(value):
    gradients = {"a": np.array([1.0, value]), "b": np.ones(2)}
    clipped, norm = clip_gradients(gradients, 0.1)
    assert not np.isfinite(norm)
    assert_array_equal(clipped["b"], 1.0)


def test_fit_refuses_to_clip_to_nothing(bowl):
    with pytest.raises(ValueError, match="max_norm must be above 0 and finite, got 0"):
        fit(bowl[1], range(1), SGD(bowl[0], lr=0.1), max_norm=0.0)


@pytest.mark.parametrize(("size", "limit"), [(1e20, 1.0), (1e-23, 1e-24)])
def test_clip_gradients_measures_what_float32_could_not_square(size, limit):
    clipped, norm = clip_gradients({"a": np.full(3, size, np.float32)}, limit)
    assert norm == pytest.approx(size * np.sqrt(3), rel=1e-6)
    assert np.linalg.norm(clipped["a"].astype(float)) == pytest.approx(limit, rel=1e-5)


# Loss and gradients


def test_loss_and_gradients_are_those_of_the_cross_entropy(disturb, rng, text_config):
    model = disturb(TokenClassifier(TextEncoder(text_config, rng=rng), 4, rng=rng))
    options = {"label_smoothing": 0.1, "causal": True}

    def scalar():
        loss, gradients = loss_and_gradients(model, (IDS, REAL), TARGETS, **options)
        return loss, lambda d: (None, {n: d * g for n, g in gradients.items()})

    expected = cross_entropy(
        model(IDS, REAL, causal=True), TARGETS, ignore_index=-100, label_smoothing=0.1
    )
    assert scalar()[0] == pytest.approx(expected, rel=1e-12)
    assert check_gradient(scalar, layer=model, places=2) < 1e-7


def test_accuracy_counts_only_what_counts():
    logits = np.array([[[1.0, 0.0], [0.0, 1.0], [5.0, 1.0]]])
    assert accuracy(logits, np.array([[0, 0, -100]])) == 0.5
    assert accuracy(logits, np.array([[0, 9, 9]]), ignore_index=9) == 1.0


def test_accuracy_refuses_to_judge_nothing():
    with pytest.raises(ValueError, match="no target counts"):
        accuracy(np.zeros((1, 2)), np.array([-100]))


# Batches


def test_minibatches_use_every_sample_once_an_epoch_in_a_new_order(rng):
    batches = minibatches(10, 4, 3, rng=rng)
    assert [len(rows) for rows in batches] == [4, 4, 2] * 3
    epochs = [np.concatenate(batches[start : start + 3]) for start in (0, 3, 6)]
    for epoch in epochs:
        assert_array_equal(np.sort(epoch), np.arange(10))
    assert not np.array_equal(epochs[0], epochs[1])


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_minibatches_refuse_sizes_below_one(sizes, rng):
    with pytest.raises(ValueError, match=f"must be at least 1, got {sizes[0]}, "):
        minibatches(*sizes, rng=rng)


def test_minibatches_refuse_a_seed_for_a_generator(without_shape_checks):
    with pytest.raises(TypeError, match=r"rng must be a np\.random\.Generator"):
        minibatches(3, 1, 1, rng=0)


# The loop


def test_fit_returns_the_losses_before_each_change(bowl):
    theta, step = bowl
    losses = fit(step, range(3), SGD(theta, lr=0.25))
    assert_array_equal(losses, [20.0, 5.0, 1.25])
    assert_array_equal(theta["x"], [0.5, -0.25])


def test_fit_hands_each_batch_to_the_step(bowl):
    theta, step = bowl
    seen = []
    fit(lambda batch: seen.append(batch) or step(batch), "abc", SGD(theta, lr=0.1))
    assert seen == ["a", "b", "c"]


def test_fit_asks_the_schedule_from_step_one(bowl):
    theta, step = bowl
    asked = []
    fit(
        step,
        range(3),
        SGD(theta, lr=0.1),
        schedule=lambda step: asked.append(step) or 0.0,
    )
    assert asked == [1, 2, 3]
    assert_array_equal(theta["x"], [4.0, -2.0])


def test_fit_clips_before_the_step(bowl):
    theta, step = bowl
    fit(step, range(1), SGD(theta, lr=1.0), max_norm=0.5)
    assert np.linalg.norm(theta["x"] - [4.0, -2.0]) == pytest.approx(0.5)


@pytest.mark.parametrize("where", ["loss", "gradient"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_fit_stops_at_what_is_not_finite_and_keeps_the_parameters(where, value):
    theta = {"x": np.ones(2)}
    results = [
        (1.0, {"x": np.ones(2)}),
        (value, {"x": np.ones(2)})
        if where == "loss"
        else (1.0, {"x": np.array([1.0, value])}),
    ]
    with pytest.raises(FloatingPointError, match=r"at step 2 .* lower the learning ra"):
        fit(results.__getitem__, range(2), SGD(theta, lr=0.1), max_norm=10.0)
    assert_allclose(theta["x"], 0.9)


def test_fit_refuses_a_factor_that_is_not_finite(bowl):
    theta, step = bowl
    with pytest.raises(FloatingPointError, match="the schedule's factor nan"):
        fit(step, range(2), SGD(theta, lr=0.1), schedule=lambda step: float("nan"))
    assert_array_equal(theta["x"], [4.0, -2.0])


def test_fit_refuses_to_train_on_nothing(bowl):
    theta, step = bowl
    with pytest.raises(ValueError, match="no batch to train on"):
        fit(step, [], SGD(theta, lr=0.1))


def test_loss_and_gradients_refuse_inputs_without_a_tuple(
    rng, text_config, without_shape_checks
):
    model = TokenClassifier(TextEncoder(text_config, rng=rng), 4, rng=rng)
    with pytest.raises(TypeError, match=r"inputs must be a tuple, such as \(images,\)"):
        loss_and_gradients(model, IDS, TARGETS)


def test_accuracy_counts_nan_as_wrong_and_refuses_other_shapes(without_shape_checks):
    assert accuracy(np.full((2, 3), np.nan), np.array([0, 0])) == 0.0
    with pytest.raises(ValueError, match=r"expected shape \(3, 3\), got \(3,\)"):
        accuracy(np.zeros((3, 3, 5)), np.zeros(3, int))


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (None, False)])
def test_fit_shows_its_progress_where_it_is_asked_to(bowl, capsys, progress, shown):
    theta, step = bowl
    fit(step, range(3), SGD(theta, lr=0.1), progress=progress)
    said = capsys.readouterr()
    assert ("3/3" in said.err) is shown
    assert said.out == ""


def test_encoder_learns_one_batch_of_digits_by_heart(rng, image_config):
    digits = load_digits()
    config = type(image_config)(**{**vars(image_config), "num_channels": 1})
    model = TokenClassifier(ImageEncoder(config, rng=rng), 10, rng=rng)
    images = digits.train_images[:16]
    targets = np.full((16, 1 + config.num_patches), -100)
    targets[:, 0] = digits.train_labels[:16]
    before = {name: array.copy() for name, array in parameters(model).items()}
    losses = fit(
        lambda batch: loss_and_gradients(model, (images,), targets),
        range(100),
        Adam(parameters(model), lr=0.01),
    )
    assert 1 < losses[0] < 4  # about log 10
    assert losses[-1] < 0.05
    assert accuracy(model(images), targets) == 1.0
    for name, array in parameters(model).items():
        if not name.endswith("b_k"):  # the keys' bias has no influence
            assert (array != before[name]).any(), name


def test_training_is_the_same_for_the_same_seed(image_config):
    def train():
        rng = np.random.default_rng(4)
        model = cast(
            TokenClassifier(ImageEncoder(image_config, rng=rng), 3, rng=rng), np.float64
        )
        images = rng.standard_normal((7, 3, 8, 8))
        targets = rng.integers(3, size=(7, 5))
        batches = minibatches(7, 3, 2, rng=rng)
        return fit(
            lambda rows: loss_and_gradients(model, (images[rows],), targets[rows]),
            batches,
            Adam(parameters(model)),
        )

    assert_array_equal(train(), train())
