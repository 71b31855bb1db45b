"""The golden arrays of book/data are what their scripts make."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

DATA = Path(__file__).parents[2] / "book" / "data"


SCRIPTS = sorted(set(DATA.glob("make_*.py")) - {DATA / "make_prices.py"})


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_golden_arrays_are_what_their_script_makes(script, tmp_path):
    name = script.stem.removeprefix("make_") + ".npz"
    subprocess.run([sys.executable, script, tmp_path / name], check=True)
    with np.load(tmp_path / name) as made, np.load(DATA / name) as stored:
        assert set(made) == set(stored)
        for key in stored:
            if stored[key].dtype.kind == "f":
                assert_allclose(made[key], stored[key], rtol=0, atol=2e-6)
            else:
                assert_array_equal(made[key], stored[key])


def test_every_golden_array_has_a_script_and_a_line_in_the_readme():
    files = {path.name for path in DATA.glob("*.npz")}
    scripts = {f"{path.stem.removeprefix('make_')}.npz" for path in DATA.glob("make_*")}
    assert files == scripts
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in readme for name in files)


def test_prices_of_a_sample_of_mistakes_are_what_their_script_makes():
    path = DATA / "make_prices.py"
    spec = importlib.util.spec_from_file_location("make_prices", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with np.load(DATA / "prices.npz") as stored:
        prices = dict(zip(stored["mistakes"].tolist(), stored["cosines"], strict=True))
    assert list(prices) == [mistake.id for _, mistake in script.forward_mistakes()]
    sample = dict(script.prices(every=20))
    assert len(sample) >= 10
    for name, price in sample.items():
        assert_allclose(price, prices[name], rtol=0, atol=2e-6, err_msg=name)


def test_page_of_mistakes_is_what_its_script_prints(tmp_path):
    book = DATA.parent
    script = book / "_tools" / "make_mistakes_page.py"
    made = subprocess.run(
        [sys.executable, script], check=True, capture_output=True, encoding="utf-8"
    )
    page = book / "reference" / "mistakes.md"
    assert made.stdout == page.read_text(encoding="utf-8")
