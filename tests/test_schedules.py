"""Schedules: known values, and the shape that each promises."""

import pytest

from encoderlab.schedules import inverse_square_root, warmup_cosine, warmup_linear

DECAYING = pytest.mark.parametrize("schedule", [warmup_linear, warmup_cosine])


def test_inverse_square_root_gives_the_known_values_of_2017():
    schedule = inverse_square_root(512, 4000)
    assert schedule(1) == pytest.approx(1.746928107e-7, rel=1e-9)
    assert schedule(4000) == pytest.approx(6.98771243e-4, rel=1e-8)
    assert schedule(0) == 0


def test_inverse_square_root_peaks_at_the_end_of_the_warmup():
    schedule = inverse_square_root(64, 10)
    assert max(range(1, 100), key=schedule) == 10
    assert schedule(40) == pytest.approx(schedule(10) / 2)


@DECAYING
def test_schedule_rises_evenly_to_one_and_falls_to_zero(schedule):
    factors = [schedule(4, 12)(step) for step in range(13)]
    assert factors[:5] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert factors[4:] == sorted(factors[4:], reverse=True)
    assert factors[8] == pytest.approx(0.5)
    assert factors[12] == pytest.approx(0, abs=1e-15)


@DECAYING
def test_schedule_stays_at_its_end_afterwards(schedule):
    assert schedule(4, 12)(500) == pytest.approx(0, abs=1e-15)


@DECAYING
def test_schedule_without_warmup_starts_at_once(schedule):
    assert schedule(0, 1000)(1) == pytest.approx(1, abs=1e-2)


def test_warmup_linear_falls_evenly():
    factors = [warmup_linear(2, 6)(step) for step in range(2, 7)]
    assert factors == pytest.approx([1, 0.75, 0.5, 0.25, 0])


def test_warmup_cosine_ends_at_its_final_factor():
    schedule = warmup_cosine(2, 10, final=0.1)
    assert schedule(2) == pytest.approx(1)
    assert schedule(6) == pytest.approx(0.55)
    assert schedule(10) == schedule(99) == pytest.approx(0.1)


@DECAYING
@pytest.mark.parametrize("steps", [(-1, 5), (5, 5), (6, 5)])
def test_schedule_refuses_steps_out_of_order(schedule, steps):
    with pytest.raises(ValueError, match=f"less than total_steps, got {steps[0]} and"):
        schedule(*steps)


@pytest.mark.parametrize("final", [-0.1, 1.1])
def test_warmup_cosine_refuses_a_final_factor_out_of_range(final):
    with pytest.raises(ValueError, match=r"final must be in \[0, 1\], got"):
        warmup_cosine(1, 5, final)


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0)])
def test_inverse_square_root_refuses_sizes_below_one(sizes):
    with pytest.raises(ValueError, match="d_model and warmup_steps must be at least 1"):
        inverse_square_root(*sizes)
