"""The notation page holds what the chapters write: every letter that a chapter's table explains stands there too."""

import re

import pytest

CHAPTERS = ("worked_example", "chips_to_flops")


def letters(text):
    """The symbols in the first column of tables; the tables of the seeds' letters come after a heading of their own."""
    own = text.split("## The same letters elsewhere")[0]
    return {letter for row in re.findall(r"^\| (\$[^|]*) \|", own, re.MULTILINE) for letter in row.split(", ")}


def halves(found):
    return {part.strip("$ ") for letter in found for part in letter.split(",")}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_letter_of_a_chapter_is_on_the_notation_page(root, chapter):
    known = halves(letters((root / "book/notation.md").read_text()))
    assert halves(letters((root / f"notebooks/{chapter}.md").read_text())) <= known


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_letter_means_one_thing_here_and_another_there(root, chapter):
    text = (root / f"notebooks/{chapter}.md").read_text()
    equations = " ".join(re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL) + re.findall(r"\$([^$\n]+)\$", text))
    # L is the loss and E its floor: layers are n_layers, the width of the heads is h d_h.
    assert not re.search(r"(?<![A-Za-z_\\{])[LEa](?![A-Za-z_}])", equations), chapter
