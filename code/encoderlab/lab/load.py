"""Load a learner's file, and say plainly why where that fails."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class CannotLoad(Exception):
    """The file cannot be used; the message says what to do."""


def load_solution(path: Path, name: str) -> Any:
    """Run a file and take one function or class from it.

    Parameters
    ----------
    path
        The file.
    name
        What it must define.

    Returns
    -------
    object
        The function or class.

    Raises
    ------
    CannotLoad
        If the file is missing, not UTF-8, not Python, or does not define the name.
    Exception
        Whatever the file itself raises.
    """
    try:
        source = path.read_bytes().decode("utf-8-sig")
    except IsADirectoryError:
        raise CannotLoad(f"{path} is a folder, not a file") from None
    except FileNotFoundError:
        raise CannotLoad(f"there is no {path}; `encoderlab start` makes it") from None
    except UnicodeDecodeError as error:
        raise CannotLoad(
            f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from None
    try:
        code = compile(source, str(path), "exec")
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise CannotLoad(f"{path}, line {error.lineno}: {error.msg}: {line}") from None
    except ValueError as error:  # a null byte
        raise CannotLoad(f"{path}: {error}") from None
    module = ModuleType(f"_work_{path.parent.name}_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)
    if not hasattr(module, name):
        own = [key for key in vars(module) if not key.startswith("_")]
        raise CannotLoad(
            f"{path} does not define {name}; it defines {', '.join(own) or 'nothing'}"
        )
    solution = getattr(module, name)
    if not callable(solution):
        kind = type(solution).__name__
        raise CannotLoad(f"{name} must be a function or a class, it is {kind}")
    return solution
