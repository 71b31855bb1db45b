"""What is masked, in which shares, and what the guesses are measured by."""

from math import e, exp

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from encoderlab.with_torch.loss import cross_entropy
from encoderlab.with_torch.training import (
    mask_tokens,
    perplexity,
    unigram_perplexity,
)

PAD, UNK, CLS, MASK = 0, 1, 2, 9  # not all at the beginning
SPECIAL = {PAD, UNK, CLS, MASK}
KINDS = {"mask_id": MASK, "vocab_size": 31, "special_ids": SPECIAL}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def many():
    """Enough tokens for shares to be near what they should be."""
    ids = torch.randint(31, (400, 500), generator=generator(1))
    return ids, *mask_tokens(ids, **KINDS, generator=generator())


def test_masking_chooses_fifteen_in_a_hundred(many):
    ids, _, targets = many
    ordinary = ~torch.isin(ids, torch.tensor(sorted(SPECIAL)))
    share = (targets != -100)[ordinary].double().mean().item()
    assert share == pytest.approx(0.15, abs=0.004)  # 4.5 deviations


def test_masking_hides_replaces_and_keeps_eighty_ten_and_ten(many):
    ids, inputs, targets = many
    chosen = targets != -100
    hidden = (inputs == MASK)[chosen].double().mean().item()
    other = ((inputs != ids) & (inputs != MASK))[chosen].double().mean().item()
    assert hidden == pytest.approx(0.8, abs=0.012)
    # one in 27 of the drawn ones is the token itself
    assert other == pytest.approx(0.1 * 26 / 27, abs=0.009)


def test_masking_draws_every_token_alike_and_no_special_one(many):
    ids, inputs, _ = many
    drawn = inputs[(inputs != ids) & (inputs != MASK)]
    counts = torch.bincount(drawn, minlength=31)
    ordinary = [i for i in range(31) if i not in SPECIAL]
    assert counts[sorted(SPECIAL)].tolist() == [0] * 4
    assert counts[ordinary].min() > 0.7 * counts[ordinary].double().mean()


@given(st.integers(0, 2**31), st.floats(0, 1))
def test_masking_never_touches_special_tokens(seed, probability):
    ids = torch.tensor([[CLS, 4, UNK, 5, 6, PAD, PAD], [CLS, 30, 29, MASK, 8, 3, PAD]])
    before = ids.clone()
    inputs, targets = mask_tokens(
        ids, **KINDS, probability=probability, generator=generator(seed)
    )
    assert torch.equal(ids, before)
    special = torch.isin(ids, torch.tensor(sorted(SPECIAL)))
    assert torch.equal(inputs[special], ids[special])
    assert (targets[special] == -100).all()
    chosen = targets != -100
    assert torch.equal(targets[chosen], ids[chosen])
    assert torch.equal(inputs[~chosen], ids[~chosen])
    assert not torch.isin(inputs[~special], torch.tensor([PAD, UNK, CLS])).any()


@pytest.mark.parametrize(("probability", "number"), [(0.0, 0), (1.0, 3)])
def test_masking_chooses_nothing_or_everything(probability, number):
    ids = torch.tensor([CLS, 4, 5, 6, PAD], dtype=torch.int32)
    inputs, targets = mask_tokens(ids, **KINDS, probability=probability)
    assert (targets != -100).sum() == number
    assert inputs.dtype == targets.dtype == torch.int32


def test_masking_is_the_same_for_the_same_seed_and_another_for_another():
    ids = torch.randint(10, 31, (5, 7), generator=generator(2))
    one, same, other = (
        mask_tokens(ids, **KINDS, probability=0.5, generator=generator(seed))[0]
        for seed in (3, 3, 4)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_masking_without_a_generator_follows_the_seed_of_torch():
    ids = torch.randint(10, 31, (5, 7), generator=generator(2))
    torch.manual_seed(5)
    one = mask_tokens(ids, **KINDS)
    torch.manual_seed(5)
    again = mask_tokens(ids, **KINDS)
    torch.manual_seed(6)
    other = mask_tokens(ids, **KINDS)
    assert torch.equal(one[0], again[0])
    assert not torch.equal(one[1], other[1])


@pytest.mark.parametrize("probability", [-0.1, 1.1, float("nan")])
def test_masking_refuses_what_is_no_probability(probability):
    with pytest.raises(ValueError, match=r"probability must be in \[0, 1\], got"):
        mask_tokens(torch.tensor([4]), **KINDS, probability=probability)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"special_ids": {9, 31}}, "special_ids must be from 0 to 30, got 9 to 31"),
        ({"special_ids": {0, 1}}, r"special_ids must hold mask_id, 9, got \[0, 1\]"),
        ({"special_ids": set(range(31))}, "leave at least one id that may be drawn"),
        ({"vocab_size": 10}, "token_ids must be from 0 to 9, got 30 to 30"),
    ],
)
def test_masking_refuses_ids_that_do_not_fit(changed, message):
    with pytest.raises(ValueError, match=message):
        mask_tokens(torch.tensor([30]), **{**KINDS, **changed})


@pytest.mark.parametrize(
    ("dtype", "size"), [(torch.uint8, 200), (torch.int8, 200), (torch.int16, 40_000)]
)
def test_masking_refuses_a_dtype_that_does_not_hold_its_targets(
    dtype, size, without_shape_checks
):
    ids = torch.tensor([5, 6], dtype=dtype)
    with pytest.raises(TypeError, match=r"dtype that holds -100 and .*; give tok"):
        mask_tokens(ids, mask_id=2, vocab_size=size, special_ids={2})


def test_masking_takes_special_ids_of_any_kind_that_are_whole(without_shape_checks):
    ids = torch.arange(10)
    inputs, _ = mask_tokens(
        ids, mask_id=2, vocab_size=10, special_ids=iter(range(9)), probability=1.0
    )
    assert torch.equal(inputs[:9], ids[:9])
    with pytest.raises(TypeError, match="special_ids must be whole numbers"):
        mask_tokens(ids, mask_id=2, vocab_size=10, special_ids={0.5, 2})


def test_perplexity_refuses_several_losses():
    with pytest.raises(ValueError, match=r"mean over all targets, got shape \(2,\)"):
        perplexity(torch.tensor([2.0, 6.0]))


def test_perplexity_is_the_number_of_equal_choices():
    loss = cross_entropy(torch.zeros(5, 7, dtype=torch.double), torch.arange(5))
    assert perplexity(loss) == pytest.approx(7.0, rel=1e-12)
    assert perplexity(1.0) == pytest.approx(e, rel=1e-12)


def test_perplexity_takes_a_loss_that_is_trained_on_and_one_that_has_run_away():
    loss = torch.tensor(2.0, requires_grad=True)  # float() of it would warn
    assert perplexity(loss) == pytest.approx(e**2, rel=1e-12)
    assert perplexity(1000.0) == float("inf")  # math.exp would raise


def test_unigram_perplexity_is_that_of_the_counts():
    train, held_out = torch.tensor([0, 0, 0, 2, -100]), torch.tensor([[0, 2], [1, -1]])
    shares = torch.tensor([4, 1, 2], dtype=torch.double) / 7
    loss = -(shares[0].log() + shares[2].log() + shares[1].log()) / 3
    assert unigram_perplexity(train, held_out, 3) == pytest.approx(exp(loss), rel=1e-12)


def test_unigram_perplexity_without_counts_is_the_vocabulary():
    nothing = torch.tensor([], dtype=torch.long)
    assert_close(
        unigram_perplexity(nothing, torch.tensor([3]), 11), 11.0, rtol=1e-12, atol=0
    )


def test_unigram_perplexity_refuses_unknown_ids_and_nothing_to_guess():
    with pytest.raises(ValueError, match="train_ids must be from 0 to 2, got 3 to 3"):
        unigram_perplexity(torch.tensor([3]), torch.tensor([0]), 3)
    with pytest.raises(ValueError, match="held_out_ids must be from 0 to 2"):
        unigram_perplexity(torch.tensor([0]), torch.tensor([5]), 3)
    with pytest.raises(ValueError, match="held_out_ids must hold at least one id"):
        unigram_perplexity(torch.tensor([0]), torch.tensor([-100]), 3)
