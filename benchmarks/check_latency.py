"""How long a learner waits for an answer: a cold check, and one on saving a file.

usage: check_latency.py [--json FILE] [--runs N]

A cold check is the whole command in a new process; beside it stands what importing
NumPy and SciPy's special functions alone takes. On saving, ``watch`` runs, and the time
is that from the moved file to the answer's first line. The minimum of the runs counts.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from interleave import write_report

PROGRAM = "from encoderlab.lab.cli import main; main()"
SOLUTION = """\
import numpy as np


def softmax(x, axis=-1):
    x = x if x.dtype.kind == "f" else x.astype(float)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
"""


def seconds(program, *arguments):
    """How long one new process of this Python takes."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start


def saves(path, runs):
    """Seconds from each save to the answer of a watching process."""
    watcher = subprocess.Popen(
        [sys.executable, "-u", "-c", PROGRAM, "watch"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        watcher.stdout.readline()  # "watching ..."
        time.sleep(1.5)
        found = []
        for run in range(runs):
            half = path.with_suffix(".new")
            half.write_text(f"{SOLUTION}# {run}\n", encoding="utf-8")
            start = time.perf_counter()
            os.replace(half, path)
            line = watcher.stdout.readline()
            found.append(time.perf_counter() - start)
            if line != "softmax is right\n":
                sys.exit(f"unexpected answer: {line}")
            time.sleep(1.0)  # the next spare process gets ready
        return found
    finally:
        watcher.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="also write the results there")
    parser.add_argument("--runs", type=int, default=10, help="of each (default: 10)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ENCODERLAB_WORK"] = folder
        seconds(PROGRAM, "start")
        path = Path(folder) / "numpy" / "softmax.py"
        path.write_text(SOLUTION, encoding="utf-8")
        cold, imports = [], []
        for _ in range(options.runs):
            imports.append(seconds("import numpy, scipy.special"))
            cold.append(seconds(PROGRAM, "check", "softmax"))
        saved = saves(path, options.runs)
    ratio = min(cold) / min(imports)
    print(f"cold check           {min(cold):.2f} s")
    print(f"importing NumPy      {min(imports):.2f} s, ratio {ratio:.1f}")
    print(f"answer after a save  {min(saved):.2f} s, median {median(saved):.2f} s")
    if options.json:
        results = {"cold": cold, "imports": imports, "saved": saved}
        write_report(
            options.json, ["numpy", "typer"], runs=options.runs, seconds=results
        )


if __name__ == "__main__":
    main()
