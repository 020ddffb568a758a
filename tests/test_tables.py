"""The small table of the chapters."""

import pytest

from lib.tables import Table


def test_a_table_escapes_its_texts():
    html = Table(head=("a", "b"), rows=(("<x>", "1 & 2"),), caption="<c>")._repr_html_()
    assert "&lt;x&gt;" in html
    assert "1 &amp; 2" in html
    assert "&lt;c&gt;</span></caption>" in html


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="3 cells"):
        Table(head=("a", "b"), rows=(("1", "2", "3"),))


def test_a_row_of_one_text_is_a_heading_over_all_columns():
    html = Table(head=("a", "b"), rows=(("part",), ("x", "1")))._repr_html_()
    assert '<th colspan="2" scope="rowgroup">part</th>' in html
    assert '<th scope="row">x</th> <td>1</td>' in html
