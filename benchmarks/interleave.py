"""Run implementations in turn, each in a process of its own, and keep the best time.

They take turns, so that a machine that slows down slows all of them; the minimum of the
runs counts. All may use every core. The variables that pin OpenBLAS to one kind of core
are unset: where a machine sets them, they are for other, older programs.
"""

import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from results import write


def answer(run):
    """In a worker: say "ready", then answer each line with the seconds of one run."""
    run()
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        run()
        print(time.perf_counter() - start, flush=True)
    # ru_maxrss: bytes on macOS, kB elsewhere
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit, flush=True)


def compare(script, names, arguments, runs):
    """Best seconds and peak bytes of each; the first name's over the second's.

    ``script --worker NAME ARGUMENT...`` must end in :func:`answer`.
    """
    workers = {name: _start(script, name, arguments) for name in names}
    seconds = {name: [] for name in names}
    for _ in range(runs):
        for name, worker in workers.items():
            print("run", file=worker.stdin, flush=True)
            seconds[name].append(float(worker.stdout.readline()))
            time.sleep(0.05)  # threads that wait for work keep a core busy for a while
    peaks = {name: int(worker.communicate()[0]) for name, worker in workers.items()}
    best = {name: min(times) for name, times in seconds.items()}
    first, second = names
    return {
        "seconds": best,
        "ratio": best[first] / best[second],
        "peak_bytes": peaks,
        "peak_ratio": peaks[first] / peaks[second],
    }


def write_report(path, packages, **results):
    """Store results with the machine and the versions that they were measured with."""
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {name: version(name) for name in packages},
        **results,
    }
    write(Path(path), report, indent=2)


def _start(script, name, arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    worker = subprocess.Popen(
        [sys.executable, script, "--worker", name, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    if worker.stdout.readline() != "ready\n":
        sys.exit(f"the {name} worker did not start; its message is above")
    return worker
