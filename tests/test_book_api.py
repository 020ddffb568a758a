"""Docstrings as reStructuredText: the form of ours goes through, and no sentence is read as a mark."""

import book_api
import docutils.core
import docutils.nodes
import pytest

DOCSTRING = """Compute days by 6ND: 6 * n_params * n_tokens / (n_gpus * peak)  [days].

Holds for **kwargs, a|b, and `code_`; 6 N_ too.

    L = E + A / N^alpha * B

1. first, with a line
   that goes on;
2. second.

Args:
    n_params: parameters, > 0: counted
        in full; float or array.
    low, high: ends.

Returns:
    A tuple of two floats: both.

Raises:
    ValueError: if one is 0.

Source: Kaplan et al. 2020, section 2.1: equation
    and text.

>>> 1 + 1
2
"""


@pytest.fixture(scope="module")
def document():
    """The docstring as docutils reads it; a warning fails."""
    text = "\n".join(book_api.as_rest(DOCSTRING.splitlines()))
    return docutils.core.publish_doctree(text, settings_overrides={"halt_level": 2, "report_level": 2})


def texts(document, kind):
    return [node.astext() for node in document.findall(kind)]


def test_the_sections_are_named_and_their_entries_listed(document):
    assert texts(document, docutils.nodes.strong) == ["Arguments", "Returns", "Raises", "Source"]
    assert texts(document, docutils.nodes.term) == ["n_params", "low, high", "ValueError"]
    assert "parameters, > 0: counted\nin full; float or array." in texts(document, docutils.nodes.definition)
    assert "A tuple of two floats: both." in texts(document, docutils.nodes.paragraph)
    assert "Kaplan et al. 2020, section 2.1: equation\nand text." in texts(document, docutils.nodes.paragraph)


def test_marks_in_a_formula_are_text_and_code_is_code(document):
    paragraphs = texts(document, docutils.nodes.paragraph)
    assert "Compute days by 6ND: 6 * n_params * n_tokens / (n_gpus * peak)  [days]." in paragraphs
    assert "Holds for **kwargs, a|b, and code_; 6 N_ too." in paragraphs
    assert texts(document, docutils.nodes.literal) == ["code_"]
    assert list(document.findall(docutils.nodes.reference)) == []


def test_formulas_examples_and_lists_keep_their_form(document):
    assert texts(document, docutils.nodes.literal_block) == ["    L = E + A / N^alpha * B".strip()]
    assert texts(document, docutils.nodes.doctest_block) == [">>> 1 + 1\n2"]
    assert len(list(document.findall(docutils.nodes.list_item))) == 2


def test_a_default_that_is_a_whole_table_is_not_spelled_out():
    """Shown in full it would be a screen of numbers before the first word."""
    signature = f"(*, compute, laws={tuple(range(500))}, name='')"
    assert book_api.shorten(None, "class", "", None, None, signature, None) == ("(*, compute, laws=..., name='')", None)
    assert book_api.shorten(None, "class", "", None, None, "(*, laws=(1, 2), name='')", None) is None
    assert book_api.shorten(None, "class", "", None, None, None, None) is None
