"""The golden arrays of book/data are what their scripts make."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

DATA = Path(__file__).parents[2] / "book" / "data"


@pytest.mark.parametrize("script", sorted(DATA.glob("make_*.py")), ids=lambda p: p.stem)
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
