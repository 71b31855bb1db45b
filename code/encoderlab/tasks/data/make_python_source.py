"""Freezes modules of the standard library and the kind of each of their characters.

Needs the Python that it was first run with, 3.11.7: other versions have other modules
and cut them differently.
"""

import io
import keyword
import sys
import sysconfig
import tokenize
from pathlib import Path

import numpy as np

TRAIN = """
base64 bdb calendar cmd codeop compileall contextlib csv dis filecmp fileinput fnmatch
gettext graphlib gzip linecache operator pprint queue random reprlib selectors shelve
string weakref
"""
TEST = "copy glob hmac sched tempfile zipapp"

SPACE, COMMENT, STRING, NUMBER, KEYWORD, NAME, OPERATOR = range(7)
KINDS = {
    tokenize.COMMENT: COMMENT,
    tokenize.STRING: STRING,
    tokenize.NUMBER: NUMBER,
    tokenize.NAME: NAME,
    tokenize.OP: OPERATOR,
}


def kinds_of(source):
    """The kind of each character; what lies between tokens is space."""
    starts = np.cumsum([0] + [len(line) for line in source.splitlines(keepends=True)])
    kinds = np.full(len(source), SPACE, np.uint8)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = KINDS.get(token.type, SPACE)
        if keyword.iskeyword(token.string):
            kind = KEYWORD
        first, last = (starts[row - 1] + col for row, col in (token.start, token.end))
        kinds[first:last] = kind
    return kinds


def main():
    default = Path(__file__).with_name("python_source.npz")
    file = sys.argv[1] if len(sys.argv) > 1 else default
    library = Path(sysconfig.get_path("stdlib"))
    train, test = TRAIN.split(), TEST.split()
    modules = train + test
    sources = [(library / f"{m}.py").read_text(encoding="ascii") for m in modules]
    np.savez_compressed(
        file,
        modules=modules,
        lengths=[len(source) for source in sources],
        held_out=[module in test for module in modules],
        characters=np.frombuffer("".join(sources).encode("ascii"), np.uint8),
        kinds=np.concatenate([kinds_of(source) for source in sources]),
    )


if __name__ == "__main__":
    main()
