"""Where a benchmark's results go: asked before it runs, written in one stroke."""

import argparse
import json
import os
from pathlib import Path


def file_from_command_line(doc, default):
    """The file named on the command line, or the default; its folder must be there."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=default)
    file = parser.parse_args().file
    if not file.parent.is_dir() or file.is_dir():
        parser.error(f"{file} must be a file in a folder that is there")
    return file


def write(file, report, **layout):
    """Replace the old results once the new ones are whole; layout is for json.dumps."""
    part = file.with_name(file.name + ".part")
    part.write_text(json.dumps(report, **layout) + "\n", encoding="utf-8")
    os.replace(part, file)
