"""The directive ``self-test``: questions whose answers explain themselves when chosen.

Its content is a numbered list of questions, each with a list of answers below it, so
that it stays readable wherever the directive is unknown::

    1. Question?
       - [ ] A wrong answer. — Why it is wrong.
       - [x] The right answer. — Why it is right.

No script is needed: an explanation is shown while its radio button is chosen, and
stands in a live region, so that it is read out too.
"""

import re
from itertools import groupby

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from .tag import tag

DASH = re.compile(r"\s+—\s+")  # between an answer and its explanation


class SelfTest(SphinxDirective):
    has_content = True

    def run(self):
        content = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, content)
        if len(content) != 1 or not isinstance(content[0], nodes.enumerated_list):
            raise self.error("self-test: expected one numbered list of questions")
        serial = self.env.new_serialno("self-test")
        name = nodes.make_id(f"{self.env.docname}-self-test-{serial}")
        questions = [
            self.question(f"{name}-{number}", number, item)
            for number, item in enumerate(content[0], start=1)
        ]
        return [tag("div", *questions, class_="self-test")]

    def question(self, name, number, item):
        """Return the fieldset of one question; refuse one that cannot be answered."""
        lists = [child for child in item if isinstance(child, nodes.bullet_list)]
        words, *more = [child for child in item if child not in lists]
        what = f"self-test, question {number}, “{words.astext()}”"
        if len(lists) != 1 or len(lists[0]) < 2:
            raise self.error(f"{what}: expected one list of two answers or more")
        answers = [read_answer(answer) for answer in lists[0]]
        for i, (is_right, _, why) in enumerate(answers, start=1):
            if is_right is None:
                raise self.error(f"{what}: answer {i} starts with neither [ ] nor [x]")
            if not why:
                raise self.error(
                    f"{what}: answer {i} has no explanation; "
                    "write it behind the answer and a dash, “answer — explanation”"
                )
        right = sum(is_right for is_right, _, _ in answers)
        if right != 1:
            raise self.error(f"{what}: {right} answers are marked [x], expected one")
        legend = tag("legend", nodes.Text(f"{number}. "), *words.children)
        choices = [choice(name, i, *answer) for i, answer in enumerate(answers)]
        return tag("fieldset", legend, *more, *choices)


def read_answer(item):
    """Return whether an answer is right (None: not said), its words, and why."""
    box, *inline = item[0].children
    if not (isinstance(box, nodes.raw) and 'type="checkbox"' in box.astext()):
        return None, [], []
    words, why = [], []
    for node in join_texts(inline):
        if not why and isinstance(node, nodes.Text) and DASH.search(node):
            before, after = DASH.split(node, 1)
            words.append(nodes.Text(before))
            why.append(nodes.Text(after))
        else:
            (why or words).append(node)
    return "checked" in box.astext(), words, why + item.children[1:] if why else []


def join_texts(inline):
    """Make one of texts that stand side by side: the end of a line parts them."""
    for is_text, group in groupby(inline, lambda node: isinstance(node, nodes.Text)):
        pieces = list(group)
        yield from [nodes.Text("".join(pieces))] if is_text else pieces


def choice(name, number, is_right, words, why):
    """Return the radio button of an answer, its label and its explanation."""
    button = f"{name}-{number}"
    verdict = nodes.strong("", "Right. " if is_right else "Not quite. ")
    return tag(
        "div",
        tag("input", type="radio", name=name, id=button, autocomplete="off"),
        tag("label", *words, for_=button),
        tag("div", tag("div", verdict, *why), class_="why", aria_live="polite"),
        class_="right answer" if is_right else "wrong answer",
    )


def setup(app):
    app.add_directive("self-test", SelfTest)
