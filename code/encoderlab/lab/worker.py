"""Check a file in a process of its own, which is killed when it takes too long.

The process reads one request from its standard input, runs the check, and writes the
report into a file: what a solution prints, or floods, cannot get into it. A spare
process can be started ahead, so that the next request finds it ready.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from encoderlab.lab.outcome import Failure, Mistaken, Report

MEMORY = 2 * 1024**3
"""Bytes that a solution may use beyond what its process starts with."""


STARTUP = 60.0
"""Seconds in which a process must get to the file."""


class Worker:
    """A process that waits for one file to check.

    Parameters
    ----------
    work
        The learner's folder, for parts of other exercises.
    """

    def __init__(self, work: Path):
        environment = os.environ | {
            "ENCODERLAB_WORK": str(work),
            "PYTHONUTF8": "1",
            "PYTHONIOENCODING": "utf-8",
        }
        for library in ("OMP", "OPENBLAS", "MKL"):  # small arrays: threads only wait
            environment.setdefault(f"{library}_NUM_THREADS", "1")
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from encoderlab.lab.worker import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # what it starts can be killed with it
        )
        self.requests: Any = self.process.stdin
        self.output: Any = self.process.stdout
        self.printed: deque[bytes] = deque(maxlen=16)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def check(self, exercise, path: Path) -> Report:
        """Check one file, then end.

        Parameters
        ----------
        exercise
            The exercise.
        path
            The file.

        Returns
        -------
        Report
            The result; ``timeout`` or ``error`` where the process did not end well.
        """
        result = Path(self.folder.name) / "report.json"
        request = {"exercise": exercise.id, "path": str(path), "result": str(result)}
        with suppress(OSError):  # it has ended: said below
            self.requests.write(json.dumps(request).encode() + b"\n")
            self.requests.flush()  # it stays open: its end is this process's end
        message = self._wait(result.with_suffix(".started"), exercise.limit)
        report = _read_report(result)
        if report is None:
            late = message.startswith("it was stopped after")
            report = Report(exercise.id, "timeout" if late else "error")
            report.message = message or self._ending()
        report.printed = b"".join(self.printed).decode("utf-8", "replace")[-2000:]
        self.close()
        return report

    def close(self) -> None:
        """Kill what is left of it."""
        _kill(self.process.pid)
        self.process.wait()
        with suppress(OSError):
            self.requests.close()
        self.reader.join(1)
        if not self.reader.is_alive():  # else somebody still holds the pipe
            self.output.close()
        self.folder.cleanup()

    def _read(self):
        while chunk := self.output.read1(4096):
            self.printed.append(chunk)

    def _wait(self, started, limit):
        """Wait for the end, or bring it about; returns why.

        The limit counts from the moment in which the process began with the file: a
        slow machine may take a while to get there.
        """
        deadline = time.monotonic() + STARTUP
        counting = False
        try:
            memory = psutil.Process(self.process.pid).memory_info
            most = memory().rss + MEMORY
        except psutil.Error:
            return ""
        while self.process.poll() is None:
            try:
                if memory().rss > most:
                    _kill(self.process.pid)
                    return (
                        f"it was stopped: it took more than {MEMORY // 2**30} GB of "
                        "memory; does an array grow in a loop?"
                    )
            except psutil.Error:
                return ""
            if not counting and started.exists():
                counting, deadline = True, time.monotonic() + limit
            if time.monotonic() > deadline:
                _kill(self.process.pid)
                return f"it was stopped after {limit:g} s; is there an endless loop?"
            time.sleep(0.005)
        return ""

    def _ending(self):
        code = self.process.wait()
        if code < 0:
            return f"the solution's process was killed by signal {-code}"
        return (
            f"the solution ended the whole program (exit code {code}); take exit() "
            "and os._exit() out"
        )


def serve() -> None:
    """In the process: read a request, check the file, write the report."""
    from encoderlab.lab import judge  # numpy and all else, before a request comes
    from encoderlab.lab.exercises import find

    line = sys.stdin.readline()
    if not line:
        return
    request = json.loads(line)
    threading.Thread(target=_end_with, args=(os.dup(0),), daemon=True).start()
    exercise = find(request["exercise"])
    if not exercise.lacks():
        exercise.check()  # PyTorch takes a while to import, which does not count
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # it stays
    Path(request["result"]).with_suffix(".started").touch()
    report = judge.judge_file(exercise, Path(request["path"]))
    half = request["result"] + ".half"
    with open(half, "w", encoding="utf-8") as file:
        json.dump(report.as_dict(), file)
    os.replace(half, request["result"])
    with suppress(Exception):  # a solution may have closed it
        sys.stdout.flush()
    os._exit(0)  # threads that a solution has left behind do not keep it alive


def _end_with(requests):
    """End this process when nobody holds the other end of the pipe of requests."""
    os.read(requests, 1)
    os._exit(1)


def _read_report(path):
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        data["failures"] = [Failure(**failure) for failure in data["failures"]]
        for name in ("named", "at_first"):
            data[name] = [Mistaken(**mistake) for mistake in data[name]]
        return Report(**data)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _kill(pid):
    """Kill a process and those that it has started."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    try:
        process = psutil.Process(pid)
        family = [*process.children(recursive=True), process]
    except psutil.Error:
        return
    for member in family:
        with suppress(psutil.Error):
            member.kill()
