"""Show the book's own code inside a notebook."""

import ast
import inspect
import textwrap
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer


class Source:
    """The code of a function or class, shown highlighted and with where it stands.

    Parameters
    ----------
    obj
        A function or class of the package.
    """

    def __init__(self, obj: Any):
        inner = inspect.unwrap(obj)
        package = inner.__module__.split(".")[0]
        path = Path(inspect.getfile(inner)).as_posix()
        self.place = "code/" + path[path.rindex(f"/{package}/") + 1 :]
        self.text = _without_docstrings(textwrap.dedent(inspect.getsource(inner)))

    def __repr__(self) -> str:
        return f"# {self.place}\n{self.text}"

    def _repr_markdown_(self) -> str:  # the book, GitHub, VS Code
        return f"`{self.place}`\n\n````python\n{self.text}\n````"

    def _repr_html_(self) -> str:  # JupyterLab, whose theme colours these classes
        code = highlight(self.text, PythonLexer(), HtmlFormatter())
        return f"<p><code>{self.place}</code></p>\n{code}"


def show_source(obj: Any) -> Source:
    """Display the code of a function or class of the package, without docstrings.

    Parameters
    ----------
    obj
        A function or class of the package; a decorated one shows what was decorated.

    Returns
    -------
    Source
        Shows itself when it is the last value of a cell.

    Examples
    --------
    >>> show_source(show_source)
    # code/encoderlab/figures/source.py
    def show_source(obj: Any) -> Source:
        return Source(obj)
    """
    return Source(obj)


def _without_docstrings(code):
    lines = code.splitlines()
    docs = [
        node.body[0]
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)
    ]
    for doc in sorted(docs, key=lambda doc: doc.lineno, reverse=True):
        end = doc.end_lineno or doc.lineno
        while end < len(lines) and not lines[end].strip():
            end += 1
        del lines[doc.lineno - 1 : end]
    return "\n".join(lines)
