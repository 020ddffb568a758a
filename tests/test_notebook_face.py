"""The what-if in a chapter: widgets without a front end, and HTML alone under a book build."""

import builtins
import subprocess
import sys

import pytest

from lib import check, whatif
from lib.whatif import catalogue, notebook
from lib.whatif.model import Axis, Chart, Choice, Number, Row, Series, View, WhatIf

WIDGET = "application/vnd.jupyter.widget-view+json"


def tokens_view(n_params, ratio, law):
    """Tokens for a size, by a ratio."""
    check.positive(n_params=n_params)
    check.whole(ratio=ratio)
    line = Series(label="tokens", x=(1.0, 2.0), y=(ratio, 2.0 * ratio))
    axes = {"x": Axis(label="parameters"), "y": Axis(label="tokens")}
    row = Row(label="tokens", value=n_params * ratio, unit="tokens", formula=f"{n_params:g} x {ratio} ({law})")
    chart = Chart(title="More is more", alt="A rising line.", series=(line,), **axes)
    return View(title="Tokens for a size.", rows=(row,), chart=chart)


TOKENS = WhatIf(
    name="tokens",
    title="Tokens",
    question="How many?",
    view=tokens_view,
    controls=(
        Number(name="n_params", label="size", start=1e9, low=1e8, high=1e12, unit="parameters", scale="log"),
        Number(name="ratio", label="tokens a parameter", start=20, low=1, high=101, whole=True),
        Choice(name="law", label="law", start="Rule", options=("Rule", "Other")),
    ),
)
DRAWABLE = [TOKENS, *catalogue.WHAT_IFS.values()]
FOLDING = [what_if for what_if in catalogue.WHAT_IFS.values() if what_if.folded]


@pytest.fixture
def panel():
    return notebook.Panel(catalogue.solve(TOKENS))


@pytest.fixture
def building(monkeypatch):
    monkeypatch.setenv("HANDBOOK_BUILD", "1")
    monkeypatch.setattr(notebook, "_shown", notebook.Counter())


def tokens(panel):
    return panel.answer.view.rows[0].value


def test_a_typed_number_is_answered(panel):
    panel.texts["n_params"].value = "70B"
    assert tokens(panel) == 1.4e12
    assert '<data value="1400000000000.0">' in panel.shown.value
    assert panel.sliders["n_params"].value == 70e9


def test_a_moved_slider_is_answered_and_written_into_its_field(panel):
    panel.sliders["n_params"].value = 1.2345e10
    assert panel.texts["n_params"].value == "12.3B"
    assert tokens(panel) == 2.46e11
    panel.sliders["ratio"].value = 30.4
    assert panel.texts["ratio"].value == "30"
    assert tokens(panel) == 3.69e11


def test_the_dragged_slider_is_left_where_the_hand_is(panel):
    panel.sliders["n_params"].value = 1.2345e10
    assert panel.sliders["n_params"].value == 1.2345e10


def test_a_slider_that_snaps_to_its_step_on_arrival_moves_nothing():
    panel = notebook.Panel(catalogue.solve(TOKENS, {"n_params": 1.2345e10}))
    panel.sliders["n_params"].value = 1.23e10  # what the front end sends back when it first draws the slider
    assert panel.texts["n_params"].value == "12.345B"
    panel.sliders["n_params"].value = 2e10
    panel.sliders["n_params"].value = 1.23e10  # and this is a hand
    assert panel.texts["n_params"].value == "12.3B"


def test_a_chosen_word_is_answered(panel):
    panel.texts["law"].value = "Other"
    assert "20 (Other)" in panel.shown.value


@pytest.mark.parametrize(("name", "text"), [("n_params", "many"), ("n_params", "-1"), ("ratio", "2.5"), ("ratio", "")])
def test_a_refusal_stands_beside_the_controls_and_the_last_good_answer_stays(panel, name, text):
    panel.texts["n_params"].value = "2B"
    before = panel.shown.value
    panel.texts[name].value = text
    assert f"{name} = " in panel.message.value
    assert 'role="alert"' in panel.message.value
    assert "has-error" in panel.texts[name]._dom_classes
    assert panel.shown.value == before


def test_a_good_answer_ends_the_refusal(panel):
    panel.texts["ratio"].value = "0"
    panel.texts["ratio"].value = "10"
    assert panel.message.value == ""
    assert "has-error" not in panel.texts["ratio"]._dom_classes
    assert tokens(panel) == 1e10


def test_a_hostile_text_is_shown_as_text(panel):
    panel.texts["n_params"].value = "<img src=x onerror=alert(1)>"
    assert "<img" not in panel.message.value
    assert "&lt;img" in panel.message.value


def test_a_number_beyond_the_slider_is_answered_all_the_same(panel):
    panel.texts["n_params"].value = "5e12"
    assert tokens(panel) == 1e14
    assert panel.sliders["n_params"].value == 1e12


def test_all_numbers_can_be_unfolded_and_stay_so(panel):
    assert "<details open" not in panel.shown.value
    panel.unfold.value = True
    panel.texts["ratio"].value = "21"
    assert "<details open" in panel.shown.value


@pytest.mark.parametrize("what_if", DRAWABLE, ids=lambda w: w.name)
def test_with_a_live_kernel_widgets_come_with_html_and_text_to_fall_back_on(what_if, monkeypatch):
    monkeypatch.delenv("HANDBOOK_BUILD", raising=False)
    shown = whatif.what_if(what_if)
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {WIDGET, "text/html", "text/plain"}
    assert shown.answer.view.title.split()[0] in bundle["text/plain"] == repr(shown)


def test_without_ipywidgets_the_answer_still_shows(monkeypatch):
    monkeypatch.delenv("HANDBOOK_BUILD", raising=False)
    real = builtins.__import__

    def blocked(name, *rest):
        if name == "ipywidgets":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", blocked)
    bundle = whatif.what_if(TOKENS)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert "pip install ipywidgets" in bundle["text/html"]


@pytest.mark.parametrize("what_if", DRAWABLE, ids=lambda w: w.name)
def test_a_book_build_shows_html_alone_with_the_chart_drawn(what_if, building):
    still = whatif.what_if(what_if)
    assert not hasattr(still, "_repr_mimebundle_")
    page = still._repr_html_()
    assert ("<svg" in page) == (still.answer.view.chart is not None)
    assert "<fieldset disabled>" in page
    assert repr(still).startswith(still.answer.view.title[:40])


def test_the_same_what_if_twice_in_a_chapter_has_two_ids(building):
    shown = [whatif.what_if(TOKENS).ident for _ in range(3)]
    assert shown == ["what-if-tokens", "what-if-tokens-2", "what-if-tokens-3"]


def test_a_wrong_starting_value_fails_the_chapter():
    with pytest.raises(ValueError, match="ratio = 0"):
        whatif.what_if(TOKENS, ratio=0)
    with pytest.raises(ValueError, match="did you mean 'ratio'"):
        whatif.what_if(TOKENS, ration=2)


def test_a_display_is_imported_only_when_something_is_shown():
    code = (
        "import sys, lib.whatif.notebook, lib.whatif.page, lib.cli\n"
        "print({'ipywidgets', 'IPython', 'matplotlib', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("what_if", FOLDING, ids=lambda what_if: what_if.name)
def test_a_notebook_folds_them_and_opens_the_fold_for_a_refusal(what_if):
    panel = notebook.Panel(catalogue.solve(what_if))
    (fold,) = panel.more
    assert fold.selected_index is None
    assert len(fold.children[0].children) == len(what_if.folded)
    number = next(control for control in what_if.folded if isinstance(control, Number))
    panel.texts[number.name].value = "-1"
    assert fold.selected_index == 0
    assert "-1" in panel.message.value
