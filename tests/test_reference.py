"""The reference pages: nothing cited that is not listed, no term used that is not explained."""

import re
from pathlib import Path

import pytest

from lib import facts, reference
from lib.hardware import ACCELERATORS

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
PAPERS = set(re.findall(r"arXiv:(\d{4}\.\d{5})", (BOOK / "references.md").read_text(encoding="utf-8")))
GLOSSARY = (BOOK / "glossary.md").read_text(encoding="utf-8")


def cited(paths):
    """arXiv numbers in files, with the file's name."""
    for path in paths:
        for number in re.findall(r"arXiv:(\d{4}\.\d{5})", path.read_text(encoding="utf-8")):
            yield number, path.name


def test_every_paper_that_lib_or_a_page_cites_is_among_the_references():
    paths = [*ROOT.glob("lib/**/*.py"), *ROOT.glob("lib/data/*.toml"), *BOOK.glob("*.md"), *ROOT.glob("notebooks/*.md")]
    assert {(number, name) for number, name in cited(paths) if number not in PAPERS} == set()


def test_every_paper_has_a_label_of_its_own():
    labels = re.findall(r"(?m)^\((ref-[a-z0-9-]+)\)=$", (BOOK / "references.md").read_text(encoding="utf-8"))
    assert len(labels) == len(set(labels)) >= len(PAPERS)
    assert labels == sorted(labels)


def test_the_terms_of_the_glossary_are_in_order():
    first_terms = re.findall(r"(?m)^(\S.*)\n(?:\S.*\n)*  ", GLOSSARY.split("```{glossary}")[1])
    assert [t.lower() for t in first_terms] == sorted(
        (t.lower() for t in first_terms), key=lambda t: t.replace("-", " ")
    )


@pytest.mark.parametrize("table", [reference.peaks(), reference.memory_and_links()], ids=["peaks", "memory"])
def test_every_accelerator_stands_in_the_table_with_its_documents(table):
    documents = dict(reference.accelerator_documents().rows)
    assert [row[0] for row in table.rows] == list(ACCELERATORS)
    for row in table.rows:
        for number in row[-1].split(", "):
            assert documents[number] in ACCELERATORS[row[0]].sources.values()


def test_a_peak_is_shown_with_the_digits_of_its_sheet():
    rows = {row[0]: row for row in reference.peaks().rows}
    assert rows["H100 SXM"][1:8] == ("66.9", "494.7", "989.4", "989.4", "1,978.9", "1,978.9", "-")


def test_every_document_of_every_data_file_is_listed():
    listed = {row[0] for row in (*reference.documents().rows, *reference.documents("accelerators").rows)}
    assert listed == {document for file in facts.files() for document in facts.sources(file)}
