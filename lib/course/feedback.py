"""What a student is told: a page and a Markdown file from the record, the scores and the hint of each question.

A record holds no hidden input, no hidden expected value and no test, so none of them can be told.
"""

import json
import os
from pathlib import Path

from lib import check
from lib.course.page import html_of, markdown_of, page, table
from lib.exercises import QUESTIONS
from lib.grading.record import file_name
from lib.whole_files import write_text

ABOUT = "feedback.json"
OUTCOMES = {
    "passed": "right",
    "failed": "not right yet",
    "raised": "it raised an error",
    "timeout": "it took too long",
    "memory": "it took too much memory",
    "crash": "it ended Python",
}


def write_feedback(folder, title, found):
    """Write an HTML page and a Markdown file for each student.

    Args:
        folder: where to; new, empty, or written by this function before.
        title: of the assignment.
        found: of `Score`.

    Returns:
        The paths of the files.

    Raises:
        ValueError: if the folder holds something else; nothing is changed.
    """
    check.text(folder=folder, title=title)
    about = Path(folder) / ABOUT
    if not about.exists() and os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
        raise ValueError(f"{folder}: neither new nor written by handbook course feedback: there is no {ABOUT} in it")
    os.makedirs(folder, exist_ok=True)
    write_text(f"{about}", json.dumps({"format": 1, "title": title}) + "\n", replace=True)
    paths = []
    for score in found:
        for suffix, text in ((".html", as_html(title, score)), (".md", as_markdown(title, score))):
            paths.append(f"{Path(folder) / file_name(score.student).removesuffix('.json')}{suffix}")
            write_text(paths[-1], text, replace=True)
    return paths


def as_html(title, score):
    """One student's page.

    Args:
        title: of the assignment.
        score: a `Score`.
    """
    parts = [f'<p class="soft">{html_of(line)}</p>' for line in _head(score)]
    parts += [_question_html(question, own) for question, own in _questions(score)]
    return page(title, "\n".join(parts))


def as_markdown(title, score):
    """The same as Markdown.

    Args:
        title: of the assignment.
        score: a `Score`.
    """
    parts = [f"# {markdown_of(title)}", *map(markdown_of, _head(score))]
    for question, own in _questions(score):
        parts += [f"## {markdown_of(question.title)}", markdown_of(_verdict(question, own))]
        if own.why:
            parts.append(markdown_of(own.why))
        if question.sentence:
            parts.append(markdown_of(question.sentence))
        rows = [f"{number}. {markdown_of(' '.join(cells))}" for number, *cells in _cases(question)]
        parts += ["\n".join(rows)] if rows else []
        if hint := _hint(question):
            parts.append(f"Hint: {markdown_of(hint)}")
    return "\n\n".join(parts) + "\n"


def _head(score):
    lines = [f"{score.student}: {score.points:g} of {score.max_points:g} points."]
    if score.record and score.record.file:
        lines.append(f"Graded: {score.record.file}")
    if score.record and score.record.sentence:
        lines.append(score.record.sentence)
    return [*lines, *score.notes]


def _questions(score):
    return zip(score.record.questions, score.questions, strict=True) if score.record else ()


def _question_html(question, own):
    kind = "good" if question.outcome == "passed" else "bad"
    parts = [f"<h2>{html_of(question.title)}</h2>", f'<p class="{kind}">{html_of(_verdict(question, own))}</p>']
    parts += [f"<p>{html_of(text)}</p>" for text in (own.why, question.sentence) if text]
    rows = [[str(number), *map(html_of, cells)] for number, *cells in _cases(question)]
    if rows:
        parts.append(table(f"Cases of {question.title}", ("Case", "Inputs", "Verdict"), rows))
    if hint := _hint(question):
        parts.append(
            f"<details><summary>A hint for {html_of(question.title)}</summary><p>{html_of(hint)}</p></details>"
        )
    return "\n".join(parts)


def _verdict(question, own):
    reached = (
        "void" if not own.max_points else f"{own.points:g} of {own.max_points:g} point{'s'[: own.max_points != 1]}"
    )
    return f"`{question.name}`: {OUTCOMES.get(question.outcome, question.outcome)}, {reached}."


def _cases(question):
    """(number, whose inputs, verdict) of each case that is worth a row: of right ones among hidden cases none is."""
    shown = [case for case in question.cases if not case.hidden or case.outcome != "right"]
    return [(place, "hidden" if case.hidden else "shown", case.sentence) for place, case in enumerate(shown, 1)]


def _hint(question):
    asked = QUESTIONS.get(question.name)
    return asked.hint if asked and question.outcome != "passed" else ""
