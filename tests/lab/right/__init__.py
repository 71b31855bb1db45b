"""Right solutions written in other ways; every check must pass all of them.

They stand in files that mirror the package; one is named ``exercise__how_it_differs``.
"""

import importlib.util
from pathlib import Path

HERE = Path(__file__).parent


def right_solutions():
    """Every right variant: (exercise id, how it differs) to function or class."""
    found = {}
    for path in sorted(HERE.rglob("*.py")):
        if path.name == "__init__.py":
            continue
        name = ".".join(path.relative_to(HERE).with_suffix("").parts)
        spec = importlib.util.spec_from_file_location(f"right.{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for key, value in vars(module).items():
            exercise, mark, how = key.partition("__")
            if exercise and mark and how:
                found[f"{name}.{exercise}", how] = value
    return found
