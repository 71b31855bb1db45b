"""Freezes the prose of Python's reference and of the standard library's docstrings.

One paragraph a line, an empty line after each document. Needs the Python that it was
first run with, 3.11.7: every release has its own text.
"""

import ast
import re
import sys
import sysconfig
from pathlib import Path
from pydoc_data.topics import topics

# what others hold the rights in, and what is no library
OTHERS = re.compile(r"copyright|licen[cs]e", re.IGNORECASE)
LEFT_OUT = """
distutils ensurepip idlelib lib2to3 pydoc_data site-packages test tkinter turtledemo
"""
WORD = re.compile(r"[A-Za-z]+(['-][A-Za-z]+)*")
MARKS = str.maketrans(
    {**dict.fromkeys('“”"*`', ""), "’": "'", "‘": "'", "–": "-", "—": "-"}
)
FEWEST_WORDS, LEAST_SHARE = 16, 0.85


def documents():
    """The text of each topic of the reference, then of each module's docstrings."""
    for name in sorted(topics):
        yield topics[name]
    library, left_out = Path(sysconfig.get_path("stdlib")), set(LEFT_OUT.split())
    for path in sorted(library.rglob("*.py")):
        if left_out & set(path.relative_to(library).parts):
            continue
        source = path.read_text(encoding="utf-8")
        if OTHERS.search(source):
            continue
        nodes = ast.walk(ast.parse(source))
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef
        texts = (ast.get_docstring(node) for node in nodes if isinstance(node, kinds))
        yield "\n\n".join(filter(None, texts))


def paragraphs(text):
    """What is prose: long enough, no code, nearly all of it words."""
    for block in re.split(r"\n\s*\n", text):
        words = block.translate(MARKS).split()
        plain = sum(
            WORD.fullmatch(word.strip("(),.;:?!'")) is not None for word in words
        )
        if len(words) < FEWEST_WORDS or plain < LEAST_SHARE * len(words):
            continue
        if "::=" not in block and ">>>" not in block:
            yield " ".join(words)


def main():
    default = Path(__file__).with_name("english.txt")
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    seen, parts = set(), []
    for text in documents():
        new = [line for line in paragraphs(text) if line not in seen]
        new = list(dict.fromkeys(new))
        seen.update(new)
        if new:
            parts.append("\n".join(new) + "\n")
    file.write_text("\n".join(parts), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
