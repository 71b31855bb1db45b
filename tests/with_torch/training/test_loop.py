"""The training loop: what it calls, in which order, and that it learns."""

from math import inf, nan

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.schedules import warmup_linear
from encoderlab.tasks import load_digits
from encoderlab.with_numpy import training as with_numpy
from encoderlab.with_torch.encoder import ImageEncoder
from encoderlab.with_torch.heads import SequenceClassifier
from encoderlab.with_torch.loss import cross_entropy
from encoderlab.with_torch.training import (
    EarlyStopping,
    accuracy,
    decay_groups,
    fit,
    minibatches,
)


class Bowl(nn.Module):
    """A parabola to roll down."""

    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.tensor([4.0, -2.0], dtype=torch.double))

    def forward(self, batch):
        return self.x.square().sum()


@pytest.fixture
def bowl():
    return Bowl()


def sgd(module, lr=0.1):
    return torch.optim.SGD(module.parameters(), lr=lr)


# Accuracy


def test_accuracy_counts_only_what_counts():
    logits = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [5.0, 1.0]]])
    assert accuracy(logits, torch.tensor([[0, 0, -100]])) == 0.5
    assert accuracy(logits, torch.tensor([[0, 9, 9]]), ignore_index=9) == 1.0


def test_accuracy_counts_nan_as_wrong():
    assert accuracy(torch.full((2, 3), nan), torch.tensor([0, 0])) == 0.0


def test_accuracy_refuses_targets_that_are_no_numbers_of_classes(without_shape_checks):
    with pytest.raises(TypeError, match="targets must be whole numbers"):
        accuracy(torch.eye(3), torch.tensor([1.0, 2.0, 0.0]))


def test_accuracy_refuses_other_shapes_and_to_judge_nothing(without_shape_checks):
    with pytest.raises(ValueError, match=r"expected shape \(3, 3\), got \(3,\)"):
        accuracy(torch.zeros(3, 3, 5), torch.zeros(3, dtype=torch.long))
    with pytest.raises(ValueError, match="no target counts"):
        accuracy(torch.zeros(1, 2), torch.tensor([-100]))


# Batches


def test_minibatches_use_every_sample_once_an_epoch_in_a_new_order():
    batches = minibatches(10, 4, 3, seed=0)
    assert [len(rows) for rows in batches] == [4, 4, 2] * 3
    epochs = [torch.cat(batches[start : start + 3]) for start in (0, 3, 6)]
    for epoch in epochs:
        assert torch.equal(epoch.sort().values, torch.arange(10))
    assert not torch.equal(epochs[0], epochs[1])


def test_minibatches_depend_on_their_seed_alone():
    one = torch.cat(minibatches(9, 4, 2, seed=3))
    before = torch.get_rng_state()
    assert torch.equal(one, torch.cat(minibatches(9, 4, 2, seed=3)))
    assert not torch.equal(one, torch.cat(minibatches(9, 4, 2, seed=4)))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_minibatches_refuse_sizes_below_one(sizes):
    with pytest.raises(ValueError, match=f"must be at least 1, got {sizes[0]}, "):
        minibatches(*sizes, seed=0)


# The loop


def test_fit_returns_the_losses_before_each_change(bowl):
    losses = fit(bowl, range(3), sgd(bowl, 0.25))
    assert losses.tolist() == [20.0, 5.0, 1.25]
    assert bowl.x.tolist() == [0.5, -0.25]


def test_fit_hands_each_batch_to_the_step(bowl):
    seen = []
    fit(lambda batch: seen.append(batch) or bowl(batch), "abc", sgd(bowl))
    assert seen == ["a", "b", "c"]


def test_fit_forgets_the_gradients_of_the_step_before(bowl):
    bowl.x.grad = torch.full_like(bowl.x, 100.0)
    fit(bowl, range(1), sgd(bowl, 0.25))
    assert bowl.x.tolist() == [2.0, -1.0]


def test_fit_multiplies_each_groups_own_rate_and_leaves_it_as_it_was():
    slow, fast = nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.SGD(
        [{"params": [slow], "lr": 0.1}, {"params": [fast], "lr": 0.2}]
    )
    asked = []
    fit(
        lambda batch: slow + fast,
        range(2),
        optimizer,
        schedule=lambda step: asked.append(step) or step / 2,
    )
    assert asked == [1, 2]
    assert_close(slow.item(), 1 - 0.1 * 1.5, rtol=1e-6, atol=0)
    assert_close(fast.item(), 1 - 0.2 * 1.5, rtol=1e-6, atol=0)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.2]


def test_fit_leaves_the_rates_as_they_were_after_an_error(bowl):
    optimizer = sgd(bowl)
    optimizer.register_step_post_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fit(bowl, range(1), optimizer, schedule=lambda step: 0.5)
    assert optimizer.param_groups[0]["lr"] == 0.1


def test_fit_clips_before_the_step(bowl):
    fit(bowl, range(1), sgd(bowl, 1.0), max_norm=0.5)
    moved = bowl.x.detach() - torch.tensor([4.0, -2.0])
    assert moved.norm().item() == pytest.approx(0.5, rel=1e-6)


def test_fit_does_not_clip_short_gradients(bowl):
    fit(bowl, range(1), sgd(bowl, 0.25), max_norm=100.0)
    assert bowl.x.tolist() == [2.0, -1.0]


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_fit_stops_at_a_loss_that_is_not_finite_and_keeps_the_parameters(bowl, value):
    factors = [1.0, value]
    with pytest.raises(FloatingPointError, match=r"at step 2 .* lower the learning ra"):
        fit(lambda batch: bowl(batch) * factors[batch], range(2), sgd(bowl, 0.25))
    assert bowl.x.tolist() == [2.0, -1.0]


def test_fit_stops_at_a_gradient_that_is_not_finite_and_keeps_the_parameters():
    model = nn.Linear(3, 1)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = torch.optim.AdamW(model.parameters())

    def step(batch):  # the root of 0 has no slope
        return (model.weight * 0).abs().sum().sqrt() + model.bias.sum()

    with pytest.raises(FloatingPointError, match="the gradients' norm nan"):
        fit(step, range(2), optimizer, max_norm=1.0)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
    assert optimizer.state_dict()["state"] == {}


def test_fit_refuses_a_factor_that_is_not_finite(bowl):
    with pytest.raises(FloatingPointError, match="the schedule's factor nan"):
        fit(bowl, range(2), sgd(bowl), schedule=lambda step: nan)
    assert bowl.x.tolist() == [4.0, -2.0]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda bowl: 3.0, "must return a scalar tensor, got float"),
        (lambda bowl: bowl.x, r"scalar tensor, got Parameter of shape \(2,\)"),
    ],
)
def test_fit_refuses_a_loss_that_is_no_scalar(bowl, returned, message):
    with pytest.raises(TypeError, match=message):
        fit(lambda batch: returned(bowl), range(1), sgd(bowl))


def test_fit_refuses_a_loss_without_the_optimisers_parameters(bowl):
    message = "does not depend on any parameter of the optimiser"
    with pytest.raises(ValueError, match=message):
        fit(bowl, range(1), sgd(Bowl()))
    with pytest.raises(ValueError, match=message), torch.no_grad():
        fit(bowl, range(1), sgd(bowl))


def test_fit_trains_what_some_batches_do_not_need(bowl):
    other = Bowl()
    optimizer = torch.optim.SGD([*bowl.parameters(), *other.parameters()], lr=0.25)
    fit(lambda batch: [bowl, other][batch](batch), range(2), optimizer)
    assert bowl.x.tolist() == other.x.tolist() == [2.0, -1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_norm": 0.0}, "max_norm must be above 0, got 0"),
        ({"every": 2}, "every and evaluate go together"),
        ({"evaluate": lambda step: 0.0}, "every and evaluate go together"),
        ({"evaluate": lambda step: 0.0, "every": 0}, "every must be at least 1, got 0"),
        ({"stopping": EarlyStopping(1)}, "stopping needs evaluate"),
        (
            {
                "stopping": EarlyStopping(1),
                "evaluate": lambda step: 0.0,
                "every": 1,
            },
            "stopping and checkpoint need model",
        ),
        ({"checkpoint": "x", "save_every": 1}, "stopping and checkpoint need model"),
        ({"save_every": 1}, "save_every and checkpoint go together"),
    ],
)
def test_fit_refuses_options_that_do_not_go_together(bowl, options, message):
    with pytest.raises(ValueError, match=message):
        fit(bowl, range(1), sgd(bowl), **options)


def test_fit_refuses_to_train_on_nothing(bowl):
    with pytest.raises(ValueError, match="no batch to train on"):
        fit(bowl, [], sgd(bowl))


def test_fit_says_what_to_do_with_a_loader(bowl, without_shape_checks):
    with pytest.raises(TypeError, match=r"must be a list, got generator; give list\("):
        fit(bowl, (batch for batch in range(3)), sgd(bowl))


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (None, False)])
def test_fit_shows_its_progress_where_it_is_asked_to(bowl, capsys, progress, shown):
    fit(bowl, range(3), sgd(bowl), progress=progress)
    said = capsys.readouterr()
    assert ("3/3" in said.err) is shown
    assert said.out == ""


# Evaluation


def test_fit_evaluates_in_evaluation_mode_without_gradients(bowl):
    asked, modes = [], []

    def evaluate(done):
        asked.append((done, bowl.training, bowl(None).requires_grad))
        return 0.0

    def step(batch):
        modes.append(bowl.training)
        return bowl(batch)

    bowl.eval()
    fit(step, range(5), sgd(bowl), model=bowl, evaluate=evaluate, every=2)
    assert asked == [(done, False, False) for done in (2, 4, 5)]
    assert modes == [True] * 5


def test_fit_is_back_in_training_mode_after_an_evaluation_that_fails(bowl):
    with pytest.raises(KeyError):
        fit(bowl, range(2), sgd(bowl), model=bowl, evaluate={}.__getitem__, every=1)
    assert bowl.training


def test_fit_refuses_the_early_stopping_of_another_training(bowl):
    stopping = EarlyStopping(2)
    options = {"model": bowl, "evaluate": lambda _: 0.0, "every": 1}
    fit(bowl, range(2), sgd(bowl), stopping=stopping, **options)
    before = bowl.x.tolist()
    with pytest.raises(ValueError, match="the history of another training; make a new"):
        fit(bowl, range(2), sgd(bowl), stopping=stopping, **options)
    assert bowl.x.tolist() == before


def test_fit_evaluates_without_a_model_too(bowl):
    asked = []
    fit(bowl, range(2), sgd(bowl), evaluate=asked.append, every=1)
    assert asked == [1, 2]


def test_fit_stops_early_and_restores_the_best_weights(bowl):
    figures = [3.0, 1.0, 2.0, 2.0, 0.0]
    stopping = EarlyStopping(2)
    losses = fit(
        bowl,
        range(5),
        sgd(bowl, 0.25),
        model=bowl,
        evaluate=lambda done: figures[done - 1],
        every=1,
        stopping=stopping,
    )
    assert len(losses) == 4
    assert stopping.best_step == 2
    assert bowl.x.tolist() == [1.0, -0.5]


def test_fit_restores_the_best_weights_if_it_was_not_stopped(bowl):
    fit(
        bowl,
        range(3),
        sgd(bowl, 0.25),
        model=bowl,
        evaluate=lambda done: float(done),
        every=1,
        stopping=EarlyStopping(9),
    )
    assert bowl.x.tolist() == [2.0, -1.0]


# All of it together


def test_fit_takes_the_steps_that_the_numpy_side_takes(disturb, image_config):
    """Ten steps of AdamW with groups, schedule and clipping, in float64."""
    model = disturb(SequenceClassifier(ImageEncoder(image_config), 7))
    arrays = {name: p.detach().numpy().copy() for name, p in model.named_parameters()}
    decay, keep = decay_groups(model, 0.2)
    decaying = {id(p) for p in decay["params"]}
    groups = [
        with_numpy.Group(
            {
                name: arrays[name]
                for name, p in model.named_parameters()
                if (id(p) in decaying) is decays
            },
            0.2 if decays else 0.0,
        )
        for decays in (True, False)
    ]
    images = torch.randn(4, 3, 8, 8, dtype=torch.double)
    labels = torch.tensor([1, 0, 6, 2])
    schedule = warmup_linear(3, 11)
    recorded = []

    def step(batch):
        return cross_entropy(model(images), labels)

    def gradients(batch):
        """The gradients of autograd at the weights of the NumPy side."""
        model.load_state_dict({n: torch.from_numpy(a) for n, a in arrays.items()})
        model.zero_grad()
        loss = step(batch)
        loss.backward()
        recorded.append(loss.item())
        return loss.item(), {n: p.grad.numpy() for n, p in model.named_parameters()}

    start = {name: value.clone() for name, value in model.state_dict().items()}
    with_numpy.fit(
        gradients,
        range(10),
        with_numpy.AdamW(groups, lr=0.01, eps=1e-6),
        schedule=schedule,
        max_norm=1.0,
    )
    model.load_state_dict(start)
    optimizer = torch.optim.AdamW([decay, keep], lr=0.01, eps=1e-6)
    losses = fit(step, range(10), optimizer, schedule=schedule, max_norm=1.0)
    # clip_grad_norm_ adds 1e-6 to the norm before it divides
    assert_close(losses, torch.tensor(recorded, dtype=torch.double), rtol=0, atol=1e-5)
    for name, parameter in model.named_parameters():
        assert_close(
            parameter.detach(),
            torch.from_numpy(arrays[name]),
            rtol=0,
            atol=1e-5,
            msg=name,
        )


def test_encoder_learns_one_batch_of_digits_by_heart(image_config):
    digits = load_digits()
    config = type(image_config)(**{**vars(image_config), "num_channels": 1})
    model = SequenceClassifier(ImageEncoder(config), 10)
    images = torch.from_numpy(digits.train_images[:16])
    labels = torch.from_numpy(digits.train_labels[:16])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = fit(
        lambda batch: cross_entropy(model(images), labels), range(100), optimizer
    )
    assert 1 < losses[0] < 4  # about log 10
    assert losses[-1] < 0.05
    assert accuracy(model(images), labels) == 1.0


def test_fit_works_under_autocast(image_config):
    model = SequenceClassifier(ImageEncoder(image_config), 7)
    images, labels = torch.randn(4, 3, 8, 8), torch.tensor([1, 0, 6, 2])

    def step(batch):
        with torch.autocast("cpu", torch.bfloat16):
            return cross_entropy(model(images).float(), labels)

    losses = fit(step, range(30), torch.optim.Adam(model.parameters(), lr=0.01))
    assert losses[-1] < 0.5 * losses[0]
    assert all(p.dtype == torch.float32 for p in model.parameters())


def test_training_is_the_same_for_the_same_seed(image_config):
    def train():
        torch.manual_seed(4)
        config = type(image_config)(**{**vars(image_config), "dropout": 0.2})
        model = SequenceClassifier(ImageEncoder(config), 7)
        images, labels = torch.randn(7, 3, 8, 8), torch.randint(7, (7,))
        return fit(
            lambda rows: cross_entropy(model(images[rows]), labels[rows]),
            minibatches(7, 3, 2, seed=1),
            torch.optim.AdamW(decay_groups(model, 0.01)),
        )

    assert torch.equal(train(), train())
