"""Execute the book's notebooks in place, storing only what a rerun reproduces.

usage: execute.py [NOTEBOOK ...]      (default: every notebook under book/)

Each runs in a fresh kernel and is written only after its last cell ran without error,
so a failure leaves the file as it was. What differs from run to run (times, versions,
ids of cells that have none) is left out or fixed: running twice leaves no diff.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import time
from pathlib import Path

import nbformat
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

BOOK = Path(__file__).resolve().parents[1]
SECONDS_PER_CELL = 600
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class ThisPython(KernelSpecManager):
    """Offer one kernel: the Python that runs this script, whatever is installed."""

    def get_kernel_spec(self, kernel_name):
        return KernelSpec(**get_kernel_dict(["--log-level=ERROR"]))


def execute(path):
    """Run a notebook's cells in order and return it, printing each code cell's time."""
    try:
        content = with_cell_ids(json.loads(path.read_text("utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path}: not a notebook ({error!r})")
    notebook = nbformat.reads(json.dumps(content), as_version=4)
    started = {}

    def start(cell, cell_index):
        started[cell_index] = time.perf_counter()

    def report(cell, cell_index, execute_reply):
        seconds = time.perf_counter() - started[cell_index]
        first_line = cell.source.partition("\n")[0]
        print(
            f"  {seconds:6.2f} s  [{cell.execution_count}] {first_line:.60}", flush=True
        )

    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_spec_manager=ThisPython()),
        timeout=SECONDS_PER_CELL,
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        coalesce_streams=True,
        on_cell_start=start,
        on_cell_executed=report,
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        sys.exit(f"{path}: code cell {len(started)} failed, file unchanged\n{error}")
    return notebook


def with_cell_ids(notebook):
    """The same notebook in format 4.5, where each cell has an id that stays."""
    notebook["nbformat_minor"] = 5
    for index, cell in enumerate(notebook["cells"]):
        text = f"{index}{''.join(cell['source'])}"
        cell.setdefault("id", hashlib.sha256(text.encode()).hexdigest()[:8])
    return notebook


def normalise(notebook):
    """Drop what a rerun may change: versions, times, widgets, settings of a view."""
    notebook["metadata"] = METADATA | {
        key: value for key, value in notebook["metadata"].items() if key == "mystnb"
    }
    for cell in notebook["cells"]:
        cell["metadata"] = {
            key: value
            for key, value in cell["metadata"].items()
            if key in ("tags", "mystnb")
        }
    return notebook


def write(notebook, path):
    """Replace the file in one step; a file that would not change is left alone."""
    text = nbformat.writes(nbformat.from_dict(notebook)).rstrip("\n") + "\n"
    if text == path.read_text("utf-8"):
        return False
    new = path.with_name(path.name + ".new")
    new.write_text(text, "utf-8", newline="\n")
    shutil.copymode(path, new)
    os.replace(new, path)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    paths = parser.parse_args().notebooks or sorted(
        path for path in BOOK.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
    )
    # a value left in the environment would keep plots from being shown in the notebook
    os.environ.pop("MPLBACKEND", None)
    began = time.perf_counter()
    for path in paths:
        if not os.access(path, os.R_OK | os.W_OK) or not path.is_file():
            sys.exit(f"{path}: no notebook that can be read and written")
    for path in map(Path.resolve, paths):
        print(path, flush=True)
        start = time.perf_counter()
        changed = write(normalise(execute(path)), path)
        seconds = time.perf_counter() - start
        print(
            f"  {seconds:6.2f} s  {'written' if changed else 'no change'}", flush=True
        )
    print(f"{len(paths)} notebooks in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
