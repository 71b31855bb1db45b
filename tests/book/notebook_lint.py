"""What the book asks of a notebook: each rule yields one message for each defect.

A rule is a function of the notebook, a dictionary as in its JSON, listed in ``RULES``.
"""

import ast
import json
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES, USUAL_LINES, LINE_WIDTH = 25, 12, 88
MOST_BYTES, MOST_SVG_BYTES = 1_000_000, 150_000


def source(cell):
    return "".join(cell["source"])


def code_cells(notebook):
    """Number and cell, counted as Jupyter counts executions."""
    cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    return enumerate(cells, start=1)


def tags(cell):
    return set(cell["metadata"].get("tags", []))


def tree(cell):
    """The cell's syntax tree, without IPython's own lines (``%``, ``!``)."""
    return ast.parse(re.sub(r"(?m)^(\s*)[%!].*", r"\1pass", source(cell)))


def figures(cell):
    """The MIME bundles of a cell's images."""
    bundles = (output.get("data", {}) for output in cell["outputs"])
    return [data for data in bundles if any(key.startswith("image/") for key in data)]


def executed_once_in_order(notebook):
    """nbval compares nothing in a cell without a count, so each must have its own."""
    counts = [cell["execution_count"] for _, cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}, not 1 to {len(counts)}"


def no_stored_trouble(notebook):
    for number, cell in code_cells(notebook):
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                yield f"cell {number} stores an error, {output['ename']}"
            if output.get("name") == "stderr":
                yield f"cell {number} stores stderr: {''.join(output['text'])[:60]!r}"


def short_cells(notebook):
    for number, cell in code_cells(notebook):
        lines = source(cell).splitlines()
        if len(lines) > MOST_LINES:
            yield f"cell {number} has {len(lines)} lines, {MOST_LINES} are allowed"
        for line in lines:
            if len(line) > LINE_WIDTH:
                yield f"cell {number} has a line of {len(line)} characters"


def nothing_hushed(notebook):
    """Jupyter heeds a last `;`; nbval does not, and sees an output not stored."""
    for number, cell in code_cells(notebook):
        if source(cell).rstrip().endswith(";"):
            yield f"cell {number} ends in `;`: end it with a print or an assert"


def figures_described(notebook):
    for number, cell in code_cells(notebook):
        if not figures(cell):
            continue
        about = cell["metadata"].get("mystnb", {})
        alt = about.get("image", {}).get("alt", "")
        if len(alt.split()) < 4 or re.search(r"\.(svg|png)\b", alt):
            yield f"cell {number} draws without a real mystnb.image.alt, {alt!r}"
        if not about.get("figure", {}).get("caption", "").strip():
            yield f"cell {number} draws without a mystnb.figure.caption"


def figures_with_numbers(notebook):
    """nbval compares no picture, so what it shows is printed or asserted too."""
    for number, cell in code_cells(notebook):
        drawn = figures(cell)
        texts = [
            "".join(output.get("text", "")) + "".join(data.get("text/plain", ""))
            for output in cell["outputs"]
            if (data := output.get("data", {})) not in drawn
        ]
        if drawn and not re.search(r"\d", "".join(texts)) and not asserts(cell):
            yield f"cell {number} draws and neither prints nor asserts a number"


def small_figures(notebook):
    for number, cell in code_cells(notebook):
        for data in figures(cell):
            size = len("".join(data.get("image/svg+xml", "")).encode())
            if size > MOST_SVG_BYTES:
                yield f"cell {number} stores an SVG of {size / 1000:.0f} kB"


def asserts(cell):
    """Whether the cell checks anything: an assert statement, or a call of assert_…"""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Attribute) and node.attr.startswith("assert_"))
        or (isinstance(node, ast.Name) and node.id.startswith("assert_"))
        for node in ast.walk(tree(cell))
    )


def uncompared_cells_assert(notebook):
    for number, cell in code_cells(notebook):
        if "nbval-skip" in tags(cell):
            yield f"cell {number} is tagged nbval-skip: nothing would notice it failing"
        uncompared = "nbval-ignore-output" in tags(cell)
        if uncompared and "gpu" not in tags(cell) and not asserts(cell):
            yield f"cell {number} is tagged nbval-ignore-output and asserts nothing"
        if "gpu" in tags(cell) and not uncompared:
            yield f"cell {number} is tagged gpu and not nbval-ignore-output"


def nothing_retyped(notebook):
    for number, cell in code_cells(notebook):
        if "exercise" in tags(cell):
            continue
        for node in ast.walk(tree(cell)):
            definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if definition and node.name in names_of_the_package():
                yield f"cell {number} defines {node.name} again: import it"


def images_described(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            for alt, target in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", source(cell)):
                if len(alt.split()) < 2:
                    yield f"image {target} has no real alt text, {alt!r}"
            for tag in re.findall(r"<img\b[^>]*>", source(cell)):
                if not re.search(r'alt="[^"]+ [^"]+"', tag):
                    yield f"{tag} has no real alt text"


def numpy_alone(notebook):
    """The book is NumPy until Part II."""
    for number, cell in code_cells(notebook):
        for node in ast.walk(tree(cell)):
            modules = [getattr(node, "module", None) or ""]
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                if re.match(r"(torch|transformers|encoderlab\.with_torch)\b", module):
                    yield f"cell {number} imports {module}"


@cache
def names_of_the_package():
    """Public functions and classes of the package, as its files define them.

    The lab's wrong solutions are not offered for use: their names are free.
    """
    return {
        node.name
        for path in (ROOT / "code" / "encoderlab").rglob("*.py")
        if "lab" not in path.relative_to(ROOT / "code" / "encoderlab").parts
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    }


RULES = [
    executed_once_in_order,
    no_stored_trouble,
    short_cells,
    nothing_hushed,
    figures_described,
    figures_with_numbers,
    small_figures,
    uncompared_cells_assert,
    nothing_retyped,
    images_described,
]


def lint(path):
    """All defects of a notebook file, as sentences."""
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    found = [message for rule in RULES for message in rule(notebook)]
    if not {"part2-pytorch", "part3-real"} & set(path.parts):
        found += numpy_alone(notebook)
    if len(text.encode()) > MOST_BYTES:
        found.append(f"the file has {len(text.encode()) / 1e6:.1f} MB")
    return found


def long_cells(path):
    """Cells longer than is usual, though allowed: worth a look."""
    for number, cell in code_cells(json.loads(path.read_text(encoding="utf-8"))):
        lines = len(source(cell).splitlines())
        if lines > USUAL_LINES:
            yield f"cell {number} has {lines} lines"


if __name__ == "__main__":  # for an author: python tests/book/notebook_lint.py NOTEBOOK
    for name in sys.argv[1:]:
        for message in [*lint(Path(name)), *long_cells(Path(name))]:
            print(f"{name}: {message}")
