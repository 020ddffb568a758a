"""Names and words: matched however they are written, and near ones offered as they are written here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import check

TABLE = {"A100 80GB": 1, "a100": 1, "H100 SXM": 2, "h100": 2}


@pytest.mark.parametrize("name", ["a100 80gb", "A100-80GB", "a100_80gb", "A10080GB", "A100\u201180GB"])
def test_case_spaces_hyphens_and_underscores_do_not_matter(name):
    assert check.lookup(TABLE, accelerator=name) == 1


@pytest.mark.parametrize("name", [None, 100, True, ["a100"]], ids=repr)
def test_a_name_is_text(name):
    with pytest.raises(TypeError, match=r"^accelerator = .*: a name, such as 'A100 80GB'"):
        check.lookup(TABLE, accelerator=name)


def test_a_near_name_is_offered_as_it_is_written():
    with pytest.raises(ValueError, match="one of A100 80GB, a100, H100 SXM, h100; did you mean 'H100 SXM'"):
        check.lookup(TABLE, accelerator="H100-SXN")


def test_a_long_table_is_cut_where_a_near_name_can_be_offered():
    table = {f"model {n}": n for n in range(40)}
    with pytest.raises(ValueError, match=r"one of model 0, .*, model 11 and 28 more; did you mean 'model 3"):
        check.lookup(table, name="modle 3")
    with pytest.raises(ValueError, match=r"one of model 0, .*, model 39$"):
        check.lookup(table, name="@")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300).filter(
        lambda name: check.plain_name(name) not in map(check.plain_name, TABLE)
    )
)
def test_any_other_text_is_refused_in_one_line(name):
    with pytest.raises(ValueError, match=r"\Aaccelerator = [^\n]*\Z"):
        check.lookup(TABLE, accelerator=name)


@pytest.mark.parametrize(("word", "error"), [("casual", ValueError), (1, TypeError), (None, TypeError)])
def test_a_choice_is_one_of_the_words(word, error):
    with pytest.raises(error, match=r"^attention = .*: one of none, causal"):
        check.choice(("none", "causal"), attention=word)


def test_text_and_instances_are_named_by_kind():
    with pytest.raises(TypeError, match=r"^title = 3 \(int\): text"):
        check.text(title=3)
    with pytest.raises(TypeError, match=r"^shape = 'x' \(str\): a dict"):
        check.instance(dict, shape="x")


def test_a_long_value_is_cut_in_a_message():
    with pytest.raises(TypeError, match=r"^title = \[0, .*\.\.\. \(list\): text$"):
        check.text(title=list(range(1000)))


def test_names_that_hold_commas_are_told_apart():
    with pytest.raises(ValueError, match=r"one of Hoffmann 2022; Hoffmann 2022, rounded$"):
        check.lookup({"Hoffmann 2022": 1, "Hoffmann 2022, rounded": 2}, law="@")
