"""Rules that every file keeps: its size, its names, and which way it imports."""

import ast
import fnmatch
import io
import os
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYOUT_TOKENS = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


def files_of_the_project():
    """Every file below the root, without the folders that git ignores."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    ignored = [".git", *(name.rstrip("/") for name in ignored)]
    for folder, below, files in os.walk(ROOT):
        below[:] = sorted(
            name for name in below if not any(fnmatch.fnmatch(name, i) for i in ignored)
        )
        yield from (Path(folder) / name for name in sorted(files))


FILES = list(files_of_the_project())
PYTHON = [path for path in FILES if path.suffix == ".py"]
PACKAGE = [path for path in PYTHON if path.is_relative_to(ROOT / "code")]


def where(path):
    return path.relative_to(ROOT).as_posix()


def lines_of_code(source):
    """Count the lines that are neither blank, nor a comment, nor a docstring."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT_TOKENS:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def constructors(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                    yield node.name, item.args


def test_lines_of_code_leaves_out_docstrings_and_comments():
    source = '"""Doc\nstring."""\n\n# why\nx = """a\nb"""\n\n\ndef f():\n    "Doc."\n'
    assert lines_of_code(source) == 3


# a list of independent entries, each read by itself, grows without getting harder
LAB = ROOT / "code" / "encoderlab" / "lab"
LISTS = {LAB / "mistakes", LAB / "checks"}
SHORT = [path for path in PACKAGE if not LISTS & set(path.parents)]


@pytest.mark.parametrize("path", SHORT, ids=where)
def test_file_is_short(path):
    assert lines_of_code(path.read_text(encoding="utf-8")) <= 150


@pytest.mark.parametrize("path", PACKAGE, ids=where)
def test_constructor_is_short_with_rng_last(path):
    for name, args in constructors(path.read_text(encoding="utf-8")):
        positional = [arg.arg for arg in (args.posonlyargs + args.args)[1:]]
        keyword_only = [arg.arg for arg in args.kwonlyargs]
        assert len(positional + keyword_only) < 9, name
        assert "rng" not in positional + keyword_only[:-1], name


@pytest.mark.parametrize("path", PYTHON, ids=where)
def test_file_is_named_after_a_concept_and_keeps_its_annotations(path):
    assert path.stem not in {"common", "helpers", "misc", "utils"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def test_no_folder_shadows_a_module_of_the_standard_library():
    assert not (ROOT / "code" / "__init__.py").exists()
    assert [p for p in PYTHON if "code" in p.relative_to(ROOT).parts[1:-1]] == []


def test_no_file_names_a_registry_host():
    # in two halves, or this file would name them
    halves = {"pypi": "org", "pythonhosted": "org", "npmjs": "org", "yarnpkg": "com"}
    hosts = [f"{name}.{domain}".encode() for name, domain in halves.items()]
    assert len(FILES) > 20
    assert [p for p in FILES for host in hosts if host in p.read_bytes()] == []


@pytest.mark.parametrize(
    ("module", "imported", "contract"),
    [
        ("config.py", "encoderlab.pretrained", "One way through the package"),
        ("with_numpy/masks.py", "encoderlab.figures", "One way through the package"),
        ("sentences.py", "encoderlab.with_numpy", "One way through the package"),
        ("with_numpy/masks.py", "torch", "The NumPy side is NumPy"),
        (
            "with_numpy/masks.py",
            "encoderlab.with_numpy.training",
            "No model file sees a training",
        ),
    ],
)
def test_import_against_the_arrows_is_refused(module, imported, contract, tmp_path):
    package = tmp_path / "encoderlab"
    shutil.copytree(ROOT / "code" / "encoderlab", package)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (package / "with_numpy" / "training.py").touch()
    with (package / module).open("a", encoding="utf-8") as file:
        file.write(f"\nimport {imported}\n")
    # the command reads the package of the folder where it runs
    lint = "from importlinter.cli import lint_imports_command as lint; lint()"
    result = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", lint],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"{contract} BROKEN" in result.stdout
