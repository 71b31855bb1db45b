"""The learner's folder: a file an exercise, backups, and what has passed.

Nothing here is ever half-written: a file is written beside its place and moved there in
one step, and what is replaced is backed up first.
"""

import ast
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from encoderlab.lab.exercises import Exercise, exercises
from encoderlab.lab.stubs import stub

VARIABLE = "ENCODERLAB_WORK"
"""The environment variable that names the folder; else it is ``work`` below here."""


class NoWorkspace(FileNotFoundError):
    """There is no folder to work in yet; the message says how to make one."""


class Workspace:
    """A folder to work in.

    Parameters
    ----------
    root
        Its path; None takes the environment variable, else ``work``.
    """

    def __init__(self, root: Path | str | None = None):
        self.root = Path(root or os.environ.get(VARIABLE) or "work").absolute()

    def exists(self) -> bool:
        """Whether the folder is there."""
        return self.root.is_dir()

    def require(self) -> None:
        """Refuse to go on without the folder."""
        if not self.exists():
            raise NoWorkspace(
                f"there is no folder {self.root}; make it with `encoderlab start`"
            )

    def file(self, exercise: Exercise) -> Path:
        """Where an exercise is solved."""
        side = "torch" if exercise.in_torch else "numpy"
        return self.root / side / f"{exercise.name}.py"

    def start(self) -> list[Path]:
        """Write the stubs that are not there yet; returns the new files."""
        written = []
        for exercise in exercises().values():
            path = self.file(exercise)
            if not path.exists():
                write(path, stub(exercise))
                written.append(path)
        return written

    def copy_notebooks(self, book: Path) -> list[Path]:
        """Copy the chapters' notebooks and their data, never over a file."""
        copied = []
        for source in sorted([*book.glob("*.ipynb"), *book.glob("p*/*.ipynb")]):
            target = self.root / "book" / source.relative_to(book)
            if not target.exists():
                write(target, source.read_text(encoding="utf-8"))
                copied.append(target)
        data = self.root / "book" / "data"
        if not data.exists():
            data.parent.mkdir(parents=True, exist_ok=True)
            half = Path(tempfile.mkdtemp(dir=data.parent)) / "data"
            shutil.copytree(book / "data", half)
            os.replace(half, data)
            half.parent.rmdir()
        return copied

    def is_open(self, exercise: Exercise) -> bool:
        """Whether nothing was written yet: no file, or the stub as it was."""
        path = self.file(exercise)
        return not path.exists() or (path.is_file() and read(path) == stub(exercise))

    def reset(self, exercise: Exercise) -> Path | None:
        """Put the stub back; returns the backup of what was there, if anything was."""
        path = self.file(exercise)
        backup = self._back_up(path) if path.exists() else None
        write(path, stub(exercise))
        return backup

    def restore(self, exercise: Exercise) -> Path:
        """Put the newest backup back; what is there now becomes a backup itself."""
        path = self.file(exercise)
        backups = self.backups(exercise)
        if not backups:
            raise FileNotFoundError(f"there is no backup of {exercise.short}")
        text = backups[-1].read_bytes()
        if path.exists() and path.read_bytes() != text:
            self._back_up(path)
        write(path, text)
        return backups[-1]

    def backups(self, exercise: Exercise) -> list[Path]:
        """The backups of an exercise, the oldest first."""
        folder = self.root / ".backup" / self.file(exercise).parent.name
        return sorted(folder.glob(f"{exercise.name}.*.py"))

    def _back_up(self, path):
        folder = self.root / ".backup" / path.parent.name
        number = 1 + max(
            (int(old.name.split(".")[1]) for old in folder.glob(f"{path.stem}.*.py")),
            default=0,
        )
        backup = folder / f"{path.stem}.{number:04}.py"
        write(backup, path.read_bytes())
        return backup

    # What has passed: a file each, so that two checks at once do not disturb each other

    def passed(self, exercise: Exercise) -> bool:
        """Whether this very source has passed this very check."""
        try:
            kept = self._passed(exercise).read_bytes()
            return kept == fingerprint(exercise, self.file(exercise)).encode()
        except OSError:
            return False

    def note(self, exercise: Exercise, passed: bool) -> None:
        """Keep in mind that the file has passed, or no longer does."""
        if passed:
            write(self._passed(exercise), fingerprint(exercise, self.file(exercise)))
        else:
            self._passed(exercise).unlink(missing_ok=True)

    def _passed(self, exercise):
        return self.root / ".passed" / exercise.id


def fingerprint(exercise: Exercise, path: Path) -> str:
    """Say which source passed which check: change either, and it differs."""
    parts = [path.read_bytes()]
    for node in (exercise.node("lab/checks"), exercise.node()):
        parts.append(ast.unparse(node).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def read(path: Path) -> str:
    """Read a learner's file whatever its encoding: to compare it, not to run it."""
    return path.read_text(encoding="utf-8", errors="replace")


def write(path: Path, content: str | bytes) -> None:
    """Write a file in one step: it is there whole, or as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, half = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".half")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(half, 0o644)
        os.replace(half, path)
    except BaseException:
        os.unlink(half)
        raise
