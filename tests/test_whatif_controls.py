"""How a what-if asks: few inputs at once, the others folded, in every face alike."""

from html.parser import HTMLParser

import pytest

from lib.whatif import catalogue, html, text
from lib.whatif.model import Choice, Number

WHAT_IFS = catalogue.WHAT_IFS.values()
FOLDING = [what_if for what_if in WHAT_IFS if what_if.folded]
every = pytest.mark.parametrize("what_if", WHAT_IFS, ids=lambda what_if: what_if.name)
folding = pytest.mark.parametrize("what_if", FOLDING, ids=lambda what_if: what_if.name)


class Fields(HTMLParser):
    """The names of a form's fields, outside and inside its fold."""

    def __init__(self, source):
        super().__init__()
        self.inside, self.found, self.units = False, {True: [], False: []}, []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "details":
            self.inside = True
        elif "name" in attrs:
            self.found[self.inside].append(attrs["name"])

    def handle_endtag(self, tag):
        if tag == "details":
            self.inside = False


def names(controls):
    return [control.name for control in controls]


@every
def test_three_to_six_inputs_are_asked_for_at_once(what_if):
    assert 3 <= len(what_if.asked) <= 6
    assert sorted(names(what_if.asked) + names(what_if.folded)) == sorted(names(what_if.controls))


@every
def test_the_page_folds_the_same_inputs_and_none_is_lost(what_if):
    fields = Fields(html.controls_html(catalogue.solve(what_if), "here"))
    assert fields.found == {False: names(what_if.asked), True: names(what_if.folded)}


@folding
def test_the_fold_of_a_page_names_what_is_inside(what_if):
    form = html.controls_html(catalogue.solve(what_if), "here")
    summary = form[form.index("<summary>") : form.index("</summary>")]
    for control in what_if.folded:
        assert control.label in summary


@folding
def test_the_command_line_lists_the_folded_inputs_last(what_if):
    said = text.inputs_text(what_if)
    first, last = said.split(text._MORE)
    assert all(f"  {name}=" in first for name in names(what_if.asked))
    assert all(f"  {name}=" in last for name in names(what_if.folded))
    assert text._MORE in text.answer_text(catalogue.solve(what_if))


@every
def test_no_unit_says_the_label_again(what_if):
    for control in what_if.controls:
        if isinstance(control, Choice):
            continue
        assert control.unit_beside in ("", control.unit)
        assert control.label != control.unit_beside
        assert control.unit_beside or not control.unit or control.unit.lower() in control.label.lower()


def test_a_unit_is_left_out_only_where_the_label_has_the_whole_word():
    seconds = Number(name="save", label="one save", start=60, low=1, high=1000, unit="s")
    sequences = Number(name="seq_len", label="sequence length", start=1, low=1, high=9, unit="tokens per sequence")
    gpus = Number(name="n_gpus", label="GPUs", start=1, low=1, high=9, unit="GPUs")
    assert [c.unit_beside for c in (seconds, sequences, gpus)] == ["s", "tokens per sequence", ""]


def test_a_margin_has_no_more_digits_than_anyone_knows():
    margins = [item.margin for name in ("days-and-mfu", "worked-example") for item in catalogue.answer(name).checks]
    assert margins[:4] == ["2.1 days to spare", "0.5 days to spare", "2.6 days too long", "9.3B tokens missing"]
