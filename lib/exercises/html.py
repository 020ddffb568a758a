"""Exercises in a chapter: an editor in the built page, the question and how to check it in a notebook.

The contract with the page's scripts (`book/live`); ID is `exercise-NAME`:

    <section class="exercise" id="ID" data-name="NAME" aria-labelledby="ID-title">
      <h3 ...> TITLE </h3>  PROMPT
      <form class="exercise-form" autocomplete="off">
        <fieldset disabled>                                  a script enables it; until then nothing looks writable
          <label for="ID-code">solution.py</label>
          <textarea id="ID-code" ...>STUB</textarea>         a script puts the editor in its place at the first touch
          <button type="submit">Run</button> <button type="reset">Start again</button>
        </fieldset>
      </form>
      <p class="exercise-message" role="status">STILL</p>
      <div class="exercise-verdicts" hidden><table>... <tbody></tbody></table><pre></pre></div>
      <details>hint</details> <details>solution</details>
    </section>
"""

import os
from html import escape

from lib import check
from lib.exercises.catalogue import QUESTIONS
from lib.exercises.draws import cases
from lib.exercises.questions import PARTS, Question

STILL = "To write and run a solution here, allow scripts and open the book through a web server."
_HEAD = "".join(f'<th scope="col">{word}</th>' for word in ("Case", "Verdict", "Why"))
_DOING = {"write": "Write", "read": "Read", "change": "Change", "decide": "Decide"}


class Exercises:
    """The exercises of a chapter; shows itself."""

    def __init__(self, questions):
        self.questions = questions

    def __repr__(self):
        return "\n\n".join(f"{_label(one)}: {one.title}. {_prompt(one)}" for one in self.questions)

    def _repr_markdown_(self):
        return None if _is_build() else "\n\n".join(map(markdown, self.questions))

    def _repr_html_(self):
        return "\n".join(map(section, self.questions)) if _is_build() else None


def exercises(chapter):
    """The exercises of a chapter, to be shown by its last cell.

    Args:
        chapter: the name of its file, such as "recipes".

    Returns:
        An object that shows itself: editors in the built page, text in a notebook.

    Raises:
        TypeError, ValueError: for what is no chapter with exercises.

    >>> [one.name for one in exercises("what_one_number_hides").questions]
    ['tokens_served', 'effective_tokens', 'model_for_life']
    """
    check.choice(tuple(PARTS), chapter=chapter)
    return Exercises([one for one in QUESTIONS.values() if one.chapter == chapter])


def markdown(question):
    """A question in a notebook: what is asked, a cell to copy, and how it is checked.

    Args:
        question: a `Question`.
    """
    check.instance(Question, question=question)
    code = f'from lib.exercises import check\n\n{question.stub_source}\n\ncheck("{question.name}", {question.name})'
    return (
        f"**{_label(question)}: {question.title}.** {_prompt(question)}\n\nIn a new cell:\n\n```python\n{code}\n```\n\n"
        f"<details><summary>Hint</summary>{escape(question.hint)}</details>"
    )


def section(question):
    """A question in the built page, whole without scripts.

    Args:
        question: a `Question`.
    """
    check.instance(Question, question=question)
    ident, inputs = f"exercise-{question.name.replace('_', '-')}", cases(question)[0].inputs
    stub = question.stub_source
    return (
        f'<section class="exercise" id="{ident}" data-name="{question.name}" aria-labelledby="{ident}-title">\n'
        f'<p class="exercise-title" id="{ident}-title"><strong>{escape(f"{_label(question)}: {question.title}")}'
        f'</strong> <span class="exercise-about">{_about(question)}</span></p>\n'
        f'<div class="exercise-prompt">{_rendered(_prompt(question))}</div>\n'
        f'<form class="exercise-form" autocomplete="off"><fieldset disabled>\n'
        f'<label for="{ident}-code">solution.py</label>\n'
        f'<textarea id="{ident}-code" rows="{stub.count(chr(10)) + 2}" spellcheck="false" autocapitalize="off" '
        f'autocomplete="off" wrap="off">{escape(stub)}\n</textarea>\n'
        f'<div class="exercise-buttons"><button type="submit" class="exercise-run">Run</button> '
        f'<button type="reset" class="exercise-reset">Start again</button></div>\n</fieldset></form>\n'
        f'<p class="exercise-message" role="status">{STILL}</p>\n'
        f'<div class="exercise-verdicts" hidden><table><thead><tr>{_HEAD}</tr></thead><tbody></tbody></table>'
        f"<pre hidden></pre></div>\n"
        f"<details><summary>Hint</summary><p>{escape(question.hint)}</p></details>\n"
        f"<details><summary>Solution</summary><pre>{escape(question.solution_source(inputs))}</pre></details>\n"
        f"</section>"
    )


def _label(question):
    return _DOING[question.task]


def _about(question):
    points = f"{question.points} point{'s' if question.points > 1 else ''}"
    return f"{question.difficulty}, {question.minutes} minutes, {points}"


def _prompt(question):
    asked = f"Set `{question.name}`" if question.kind == "value" else f"Complete `{question.signature}`"
    unit = f", in {question.unit}" if question.unit else ""
    allowed = " Here `lib` may be used." if question.allows_lib else ""
    return f"{question.prompt_for(cases(question)[0].inputs)}\n\n{asked}{unit}.{allowed}"


def _rendered(text):
    from markdown_it import MarkdownIt  # comes with the book's tools; a notebook renders by itself

    return MarkdownIt("commonmark").render(text).strip()


def _is_build():
    return os.environ.get("HANDBOOK_BUILD", "") not in ("", "0")
