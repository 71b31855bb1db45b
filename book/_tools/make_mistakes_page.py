"""Print the page reference/mistakes.md, made from the catalogue of mistakes.

usage: python book/_tools/make_mistakes_page.py > book/reference/mistakes.md
"""

from itertools import groupby
from pathlib import Path

import numpy as np

from encoderlab.lab.exercises import exercises
from encoderlab.lab.judge import SEEDS, ask_reference, judge
from encoderlab.lab.mistakes import mistakes_of

DATA = Path(__file__).parents[1] / "data" / "prices.npz"
HEAD = """\
---
reading_time: none
myst:
  html_meta:
    description: >-
      Every mistake that the exercises' checks are proved against, which question shows
      it, and what it does to a real model.
---

# A catalogue of mistakes

The checks of the exercises are proved: each of these {count} mistakes is a small \
implementation in `code/encoderlab/lab/mistakes/`, tests demand that its check \
rejects it, and a solution that answers as one of them does is told so. This page is \
made from that catalogue.

*Shown by* is the first question that the mistake answers wrongly, and how many of \
the questions do show it: where it is one of many, most tests would have passed. *In \
MiniLM* is what the mistake does to a real model: the mean cosine between its \
sentence vectors and the right ones, over eight sentences of unequal length in one \
batch. A cosine of 1.000 cannot be seen in the result at all. *Fails* means that the \
model does not run to its end, *NaN* that its vectors are not numbers; a dash, that \
the part does not stand in the way of that computation.
"""


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |\n"


def price_of(mistake, prices):
    if mistake.id not in prices:
        return "–"
    price = prices[mistake.id]
    if np.isnan(price):
        return "NaN"
    return "fails" if price == -2 else f"{price:.3f}"


def shown_by(exercise, mistake, right):
    """The first question that shows the mistake, and the share of those that do."""
    questions = {answer.case.says for answer in right[SEEDS[0]]}
    failures = judge(exercise, mistake.target, right, naming=False).failures
    return f"{failures[0].says} ({len(failures)} of {len(questions)})"


def plain(text):
    return text.replace("|", "\\|").replace("$", "\\$").replace("*", "\\*")


def main():
    with np.load(DATA) as stored:
        prices = dict(zip(stored["mistakes"].tolist(), stored["cosines"], strict=True))
    known = sorted(exercises().values(), key=lambda exercise: exercise.chapter)
    count = sum(len(mistakes_of(exercise.id)) for exercise in known)
    page = HEAD.format(count=count)
    for chapter, entries in groupby(known, key=lambda exercise: exercise.chapter):
        page += f"\n## Chapter {chapter:02}\n"
        for exercise in entries:
            mistakes = mistakes_of(exercise.id)
            if not mistakes:
                continue
            page += f"\n### {exercise.short}\n\n"
            page += row("what is done", "shown by", "in MiniLM") + row(*["---"] * 3)
            right = ask_reference(exercise)
            for mistake in mistakes:
                page += row(
                    plain(mistake.says[0].upper() + mistake.says[1:]),
                    plain(shown_by(exercise, mistake, right)),
                    price_of(mistake, prices),
                )
    print(page, end="")


if __name__ == "__main__":
    main()
