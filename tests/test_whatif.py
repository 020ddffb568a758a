"""The what-if mechanism: settings in, one view out, the same in every face, and no input that ends in a traceback."""

import json
import math
import re
import shlex
from functools import cache
from html.parser import HTMLParser
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import check, units
from lib.whatif import catalogue, html, page, text
from lib.whatif.model import Axis, Chart, Check, Choice, Number, Reference, Row, Series, View, WhatIf

HOSTILE = "<script>alert(\"1\")</script> & 'x'"


def save_interval_view(save_seconds, mtbf_hours, storage):
    """Young's interval, with every part that a view can have."""
    check.positive(save_seconds=save_seconds, mtbf_hours=mtbf_hours)
    best = (2 * save_seconds * mtbf_hours * 3600) ** 0.5
    x = tuple(best * place / 10 for place in range(1, 41))
    lost = tuple(save_seconds / t + t / (7200 * mtbf_hours) for t in x)
    axes = {"x": Axis(label="time between saves (s)", scale="log"), "y": Axis(label="time lost (share)")}
    unfold = {"formula": "sqrt(2 x save x MTBF)", "assumed": ("MTBF",), "sources": ("Young 1974", HOSTILE)}
    return View(
        title=f"Save every {best:.0f} s.",
        rows=(
            Row(label="time between saves", value=best, unit="s", group="Result", convention="first order", **unfold),
            Row(label="saves a day", value=86400 / best, group="Result", formula=HOSTILE),
            Row(label="storage", value=storage),
        ),
        chart=Chart(
            title=HOSTILE,
            alt="A valley.",
            **axes,
            series=(Series(label="lost", x=x, y=lost), Series(label="limit", x=(1.0,), y=(2.0,))),
            references=(Reference(label="best", value=best),),
        ),
        checks=(
            Check(label="fits", passed=True, margin="2 s to spare"),
            Check(label="cheap", passed=False, margin=HOSTILE),
            Check(label="safe", passed=None, margin="nobody knows"),
        ),
        notes=(HOSTILE,),
    )


SAVE = WhatIf(
    name="save-interval",
    title="How often to save",
    question=f"When? {HOSTILE}",
    view=save_interval_view,
    controls=(
        Number(name="save_seconds", label="one save", start=60, low=1, high=1000, unit="s", scale="log"),
        Number(name="mtbf_hours", label="MTBF", start=6, low=1, high=100, unit="hours", aliases=("mean_time",)),
        Choice(name="storage", label="storage", start="Local disk", options=("Local disk", "Remote"), help=HOSTILE),
    ),
)
EVERY = [*catalogue.WHAT_IFS.values(), SAVE]
ids = [what_if.name for what_if in EVERY]


class Tree(HTMLParser):
    """Reads HTML strictly: every element closed in its turn, every id once; keeps words and attributes."""

    VOID = frozenset({"input", "br", "hr", "img", "meta", "link"})

    def __init__(self, source):
        super().__init__()
        self.open, self.ids, self.words, self.tags = [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def said(self):
        return squeezed(" ".join(self.words))


def squeezed(words):
    return " ".join(words.split())


# Settings


def test_left_out_settings_keep_their_starting_values():
    assert catalogue.solve(SAVE, {"mtbf_hours": 3}).values == {
        "save_seconds": 60,
        "mtbf_hours": 3,
        "storage": "Local disk",
    }


def test_names_and_words_are_taken_whatever_their_case_and_hyphens():
    answer = catalogue.solve(SAVE, {"Save-Seconds": "1 min", "STORAGE": "local_disk"})
    assert answer.values["save_seconds"] == 60
    assert answer.values["storage"] == "Local disk"


@pytest.mark.parametrize(
    ("settings", "message", "control"),
    [
        ({"mean_time": "3"}, "did you mean 'mtbf_hours'?", None),
        ({"mtbf_hour": "3"}, "did you mean 'mtbf_hours'?", None),
        ({"xyz": "3"}, "'xyz' is no input of save-interval: one of save_seconds, mtbf_hours, storage", None),
        ({"mtbf_hours": "-3"}, "mtbf_hours = -3", "mtbf_hours"),
        ({"mtbf_hours": "many"}, "mtbf_hours = 'many': a number", "mtbf_hours"),
        ({"mtbf_hours": True}, "mtbf_hours = True (bool): a finite number", "mtbf_hours"),
        ({"mtbf_hours": None}, "mtbf_hours = None", "mtbf_hours"),
        ({"mtbf_hours": float("nan")}, "mtbf_hours = nan", "mtbf_hours"),
        ({"mtbf_hours": "1e999"}, "mtbf_hours = '1e999'", "mtbf_hours"),
        ({"storage": "remotely"}, "did you mean 'Remote'?", "storage"),
        ({"storage": 3}, "storage = 3 (int): a name", "storage"),
        ({"storage": "x" * 999}, "at most 200 characters", "storage"),
        ({"mtbf_hours": 1, "MTBF hours": 2}, "mtbf_hours: given twice", "mtbf_hours"),
        ({"mtbf_hours": "1e300"}, "mtbf_hours = 1e300: at most 100,000 hours", "mtbf_hours"),
        ({"save_seconds": "1e-300 s"}, "save_seconds = 1e-300: at least 1 ms", "save_seconds"),
        ({"mtbf_hours": "2 weeks GPU"}, "the unit 'weeks GPU' is not one of", "mtbf_hours"),
        ({"save_seconds": "60%"}, "the unit '%' is not one of", "save_seconds"),
    ],
)
def test_a_refusal_is_one_line_and_names_the_control_at_fault(settings, message, control):
    with pytest.raises(catalogue.RefusedError) as refused:
        catalogue.solve(SAVE, settings)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.control == control


@pytest.mark.parametrize("bad", [3, "n_gpus=3", ["n_gpus"], True])
def test_settings_that_are_no_mapping_are_refused(bad):
    with pytest.raises(catalogue.RefusedError, match="settings = "):
        catalogue.solve(SAVE, bad)


def test_a_mistake_in_a_view_is_not_taken_for_a_refusal():
    broken = WhatIf(name="broken", title="", question="", view=lambda: None + 1, controls=())
    with pytest.raises(TypeError, match="unsupported operand"):
        catalogue.solve(broken)


def test_an_unknown_name_offers_the_nearest():
    with pytest.raises(catalogue.RefusedError, match="did you mean 'days-and-mfu'"):
        catalogue.answer("days-and-mfo")


def odd_texts():
    numbers = st.floats().map(repr) | st.integers().map(str)
    units = st.sampled_from(["", "B", "%", " days", " GB", "e9", " TFLOP/s", "k"])
    letters = st.characters(exclude_categories=["Cs"])  # what UTF-8 can write, found ten times as fast as by its codec
    return (
        st.text(letters, max_size=12)
        | st.builds(str.__add__, numbers, units)
        | st.sampled_from(["0", "1", "100", "1e-300"])
    )


@cache
def odd_settings(what_if):
    """Made once: a strategy that is made for each example is checked for each example."""
    names = st.sampled_from([control.name for control in what_if.controls])
    return st.dictionaries(names, odd_texts(), min_size=1, max_size=3)


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
@given(data=st.data())
def test_any_text_either_answers_or_refuses_in_one_line(what_if, data):
    moved = data.draw(odd_settings(what_if))
    assert len(outcome(what_if, moved).splitlines()) == 1


def outcome(what_if, moved):
    try:
        return json.dumps(catalogue.answer(what_if, moved).to_dict(), allow_nan=False)
    except catalogue.RefusedError as refused:
        return str(refused)


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_every_control_takes_back_what_it_writes(what_if):
    for control in what_if.controls:
        ends = (control.low, control.high) if isinstance(control, Number) else control.options
        for value in (control.start, *ends):
            assert control.read(control.write(control.read(value))) == control.read(value)


@given(value=st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53))
def test_a_number_control_takes_back_every_number_that_it_writes(value):
    for unit, whole in (("", True), ("tokens", False), ("days", False), ("bytes", False)):
        control = Number(name="n", label="n", start=0, low=0, high=1, unit=unit, whole=whole)
        assert control.read(control.write(control.read(value))) == value


def test_a_number_control_takes_what_a_person_types():
    size = Number(name="n_params", label="size", start=1e9, low=1e8, high=1e12, unit="parameters")
    days = Number(name="days", label="days", start=14, low=1, high=90, unit="days")
    share = Number(name="mfu", label="MFU", start=0.4, low=0.1, high=0.7)
    assert [size.read(t) for t in ("70B", "1e12", "1,000,000", "70 B parameters")] == [70e9, 1e12, 1e6, 70e9]
    assert [days.read(t) for t in ("14", "14 days", "2 weeks", "48 h")] == [14, 14, 14, 2]
    assert [share.read(t) for t in ("45%", "0.45", ".45")] == [0.45] * 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8_030_261_248, "8.030261248B"),
        (13459186305.0, "13.459186305B"),
        (15e12, "15T"),
        (13459186305.27, "13.45918630527B"),
        (1e10 / 3, "3333333333.3333335"),
    ],
)
def test_a_size_is_written_with_its_letter_where_every_digit_fits(value, text):
    size = Number(name="n", label="size", start=1e9, low=1e8, high=1e12, unit="parameters")
    assert size.write(value) == text
    assert size.read(text) == value


@pytest.mark.parametrize("text", ["1.000", "16.000", "1.000 GPUs"])
def test_a_dot_between_thousands_is_not_read_as_a_decimal_point(text):
    gpus = Number(name="n_gpus", label="GPUs", start=8, low=1, high=1e5, unit="GPUs", whole=True)
    with pytest.raises(ValueError, match=rf"^n_gpus = '{text}': a whole number; a thousand is written 1,000"):
        gpus.read(text)
    assert [gpus.read(t) for t in ("1.000k", "1.0", "128.00", "1,000")] == [1000, 1, 128, 1000]


def too_much(a, b, c):
    """Refuses a quantity that is no input."""
    check.whole(internal_product=a * b)
    return View(title=f"{a}, {b}, {c}", rows=())


TOO_MUCH = WhatIf(
    name="too-much",
    title="",
    question="",
    view=too_much,
    controls=tuple(Number(name=name, label=name, start=2, low=1, high=100) for name in "abc"),
)


@pytest.mark.parametrize(
    ("settings", "message", "control"),
    [
        (
            {"b": 0.3, "c": 5},
            "b = 0.3: too far from the other inputs, it leads to internal product = 0.6: a whole",
            "b",
        ),
        ({"a": 0.3, "b": 0.7, "c": 5}, "together these inputs lead to internal product = 0.21: a whole number", None),
    ],
)
def test_a_quantity_that_is_no_input_is_laid_at_the_input_that_was_moved(settings, message, control):
    with pytest.raises(catalogue.RefusedError) as refused:
        catalogue.solve(TOO_MUCH, settings)
    assert str(refused.value).startswith(message)
    assert refused.value.control == control


# The command that gives the same answer


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_the_command_of_an_answer_gives_the_same_answer(what_if):
    moved = {c.name: c.high if isinstance(c, Number) else c.options[-1] for c in what_if.controls[:1]}
    answer = catalogue.solve(what_if, moved)
    settings = dict(word.split("=", 1) for word in shlex.split(answer.command)[3:])
    assert catalogue.solve(what_if, settings).to_dict() == answer.to_dict()


@pytest.mark.parametrize("numbers", [(1.0,), (1.0, 2.0, 3.0)])
def test_a_formula_has_a_place_for_each_of_its_numbers(numbers):
    with pytest.raises(ValueError, match=r"numbers = . of them: 2, one for each {} of the formula"):
        Row(label="tokens", value=1.0, formula="{} / {}", numbers=numbers)


@pytest.mark.parametrize("empty", [{}, {"sources": ("",)}, {"assumed": ("",)}, {"formula": "", "convention": ""}])
@pytest.mark.parametrize("more", [{}, {"sources": ("", "a table")}, {"assumed": ("a price",)}])
def test_a_row_unfolds_where_there_is_something_to_say(empty, more):
    row = Row(label="days", value=1.0, **empty | more)
    assert row.unfolds == bool(row.unfolded) == bool(more)


# One view, every face


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_every_face_shows_the_same_words(what_if):
    answer = catalogue.solve(what_if)
    said_html = Tree(html.answer_html(answer.view, answer.command)).said
    said_text = squeezed(text.answer_text(answer, explain=True))
    for row in answer.view.rows:
        for words in (row.label, row.text, *(part for _, part in row.unfolded)):
            assert squeezed(words) in said_html
            assert squeezed(words) in said_text
    for words in (answer.view.title, *answer.view.notes, *(c.margin for c in answer.view.checks)):
        assert squeezed(words) in said_html
        assert squeezed(words) in said_text


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_json_is_the_same_answer_in_full(what_if):
    answer = catalogue.solve(what_if)
    data = json.loads(text.answer_json(answer))
    assert list(data) == ["name", "inputs", "title", "rows", "chart", "checks", "notes"]
    assert data["inputs"] == answer.values
    assert [row["value"] for row in data["rows"]] == [row.value for row in answer.view.rows]
    assert [row["text"] for row in data["rows"]] == [row.text for row in answer.view.rows]


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_the_pages_first_reply_carries_every_number_in_full(what_if):
    answer = catalogue.solve(what_if)
    reply = page._seen(answer)
    numbers = [float(a["value"]) for tag, a in Tree(reply["html"]).tags if tag == "data"]
    assert sorted(numbers) == sorted(row.value for row in answer.view.rows if not isinstance(row.value, str))
    assert reply["title"] == answer.view.title
    assert catalogue.solve(what_if, reply["texts"]).values == answer.values


def test_the_catalogue_names_what_its_modules_define():
    modules = dict.fromkeys(catalogue._MODULES.values())
    defined = [(each.name, name) for name in modules for each in import_module(f"lib.whatif.{name}").WHAT_IFS]
    assert defined == list(catalogue._MODULES.items())


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_the_pages_two_replies_are_together_what_a_still_page_has(what_if):
    answer = catalogue.solve(what_if)
    seen, folded = page._seen(answer), page._folded(answer)
    empty = re.compile(r'data-key="([^"]*)">(?:(?!data-key).)*?<div data-apart>(?=</div>)', re.DOTALL)
    filled = empty.sub(lambda fold: fold[0] + folded["folds"][fold[1]], seen["html"])
    assert filled == html.answer_html(answer.view, answer.command)
    assert len(empty.findall(seen["html"])) == len(folded["folds"])
    assert empty.sub(lambda fold: fold[0] + folded["table"], seen["chart_html"]) == html.chart_html(answer.view.chart)


@pytest.mark.parametrize("name", catalogue.WHAT_IFS)
def test_the_page_is_told_what_is_seen_before_what_is_folded_away(name):
    answer = catalogue.solve(name)
    replies = [json.loads(reply) for reply in page.respond(name, "{}")]
    assert replies == json.loads(json.dumps([page._seen(answer), page._folded(answer)]))


@pytest.mark.parametrize("what_if", catalogue.WHAT_IFS.values(), ids=catalogue.WHAT_IFS)
def test_every_number_of_an_answer_can_be_unfolded(what_if):
    for row in catalogue.answer(what_if).rows:
        assert isinstance(row.value, str) or row.formula or row.sources, row.label


@pytest.mark.parametrize("what_if", catalogue.WHAT_IFS.values(), ids=catalogue.WHAT_IFS)
def test_the_keys_of_the_rows_stay_when_a_number_moves(what_if):
    number = next(control for control in what_if.controls if isinstance(control, Number))
    near = {number.name: number.start + 0.01 * (number.high - number.start)}
    if number.whole:
        near = {number.name: number.start + 1}
    before, after = catalogue.answer(what_if), catalogue.answer(what_if, near)
    assert html.unique_keys(before.rows) == html.unique_keys(after.rows)


def test_rows_of_the_same_name_have_keys_of_their_own():
    rows = [Row(label="days", value=1.0), Row(label="days", value=2.0), Row(label="Days!", value=3.0)]
    assert len(set(html.unique_keys(rows))) == 3


# The page


def test_a_refusal_reaches_the_page_with_its_control():
    name = next(iter(catalogue.WHAT_IFS))
    control = catalogue.WHAT_IFS[name].controls[0].name
    reply = only_reply(name, json.dumps({control: "nonsense"}))
    assert (reply["ok"], reply["control"]) == (False, control)
    assert only_reply("nosuch", "{}")["ok"] is False


def only_reply(*asked):
    (reply,) = page.respond(*asked)
    return json.loads(reply)


@pytest.mark.parametrize(
    "settings",
    [
        "",
        "[]",
        "null",
        "{",
        "3",
        '{"a": NaN}',
        "[" * 10**5,
        '{"a":' * 10**4,
        '{"n_gpus": "\\u0000"}',
        "\ufeff{}",
        5,
        None,
        {},
    ],
    ids=lambda settings: repr(settings)[:20],
)
def test_a_damaged_message_is_refused_and_not_raised(settings):
    assert only_reply(next(iter(catalogue.WHAT_IFS)), settings)["ok"] is False


# The still page


PICTURE = '<svg><defs><clipPath id="a"/></defs><g clip-path="url(#a)"/></svg>'


def still_page(what_if, copy="", **settings):
    return html.section_html(catalogue.solve(what_if, settings), f"what-if-{what_if.name}{copy}", PICTURE)


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_the_still_page_holds_controls_answer_and_chart(what_if):
    tree = Tree(still_page(what_if))
    section, view = tree.tags[0][1], catalogue.answer(what_if)
    assert (section["id"], section["data-name"]) == (f"what-if-{what_if.name}", what_if.name)
    assert json.loads(section["data-start"]) == what_if.starting_values()
    named = {a["name"] for tag, a in tree.tags if tag in ("input", "select") and "name" in a}
    assert named == {control.name for control in what_if.controls}
    assert squeezed(view.title) in tree.said
    assert next("hidden" in a for tag, a in tree.tags if tag == "figure") == (view.chart is None)


def test_every_input_has_a_label():
    tree = Tree(still_page(SAVE))
    labelled = {a["for"] for tag, a in tree.tags if tag == "label"}
    for tag, attributes in tree.tags:
        if tag in ("input", "select"):
            assert attributes.get("aria-label") or attributes["id"] in labelled
    assert {a["aria-describedby"] for _, a in tree.tags if "aria-describedby" in a} <= set(tree.ids)


def test_the_same_what_if_can_stand_twice_on_a_page():
    tree = Tree(still_page(SAVE) + still_page(SAVE, "-2"))  # fails if an id stands twice, in the pictures too
    assert len({a["aria-label"] for tag, a in tree.tags if tag == "section"}) == 2
    assert {a["clip-path"] for tag, a in tree.tags if tag == "g"} == {f"url(#{i})" for i in tree.ids if i[-2:] == "-a"}


def test_nothing_in_a_view_becomes_markup():
    tree = Tree(still_page(SAVE))
    assert "script" not in {tag for tag, _ in tree.tags}
    assert not any(name.startswith("on") for _, attributes in tree.tags for name in attributes)
    assert tree.said.count(HOSTILE) >= 5


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_words_stay_apart_when_a_search_index_drops_the_tags(what_if):
    page_words = set(re.sub(r"<[^<]+?>", "", still_page(what_if)).split())
    assert page_words <= set(re.sub(r"<[^<]+?>", " ", still_page(what_if)).split())


def test_other_starting_values_are_the_starting_values_of_the_page():
    tree = Tree(still_page(SAVE, mtbf_hours=24))
    assert json.loads(tree.tags[0][1]["data-start"])["mtbf_hours"] == 24
    assert "mtbf_hours=24" in tree.said


@pytest.mark.parametrize("what_if", EVERY, ids=ids)
def test_sliders_reach_from_low_to_high_in_round_steps(what_if):
    for control in (c for c in what_if.controls if isinstance(c, Number)):
        low, high, place = html.slider(control, control.start)
        assert low <= place <= high
        assert 50 <= (high - low) / html.step(control) <= 500 or control.whole


def test_a_charts_table_shows_what_a_person_reads_and_says_what_it_leaves_out():
    words = Tree(html.chart_html(catalogue.answer(SAVE).chart)).said
    assert "21 of 40 points" in words
    assert "best: 1,610 on the axis time between saves (s)" in words
    valley = catalogue.answer("allocation").chart
    assert "17 of 33 points" in Tree(html.chart_html(valley)).said
    assert all(f'"row">{units.show_number(size)}</th>' in html.chart_html(valley) for size in valley.series[0].x[::2])


# Plain data


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, True])
def test_a_row_refuses_what_is_no_finite_number(bad):
    with pytest.raises((TypeError, ValueError), match="days = "):
        Row(label="days", value=bad)


def test_a_series_refuses_points_that_are_not_finite():
    with pytest.raises(ValueError, match="loss: finite numbers in every point"):
        Series(label="loss", x=(1.0, 2.0), y=(1.0, math.nan))


LINE = Series(label="loss", x=(1.0, 2.0), y=(3.0, 0.0))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"series": ()}, "series: at least one with at least one point"),
        ({"series": (Series(label="none", x=(), y=()),)}, "series: at least one with at least one point"),
        ({"y": Axis(label="loss (nats)", scale="log")}, r"loss \(nats\): numbers above 0 on a logarithmic axis"),
        ({"x": Axis(label="n", scale="log"), "references": (Reference(label="-", value=-1.0),)}, "n: numbers above 0"),
    ],
)
def test_a_chart_refuses_what_cannot_be_drawn(parts, message):
    with pytest.raises(ValueError, match=message):
        Chart(**{"title": "", "alt": "", "x": Axis(label="n"), "y": Axis(label="y"), "series": (LINE,)} | parts)


# Text


def test_text_keeps_to_eighty_columns_and_says_verdicts_in_words():
    lines = text.answer_text(catalogue.solve(SAVE), explain=True).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if line[:4] in ("PASS", "FAIL", "UNDE")] == ["PASS", "FAIL", "UNDECIDED"]


# Every answer that the sliders reach


@cache
def slid(what_if):
    """Settings anywhere between the ends of the sliders, the ends among them, and any of the options."""
    return st.fixed_dictionaries({}, optional={control.name: moved_to(control) for control in what_if.controls})


def moved_to(control):
    if isinstance(control, Choice):
        return st.sampled_from(control.options)
    low, high = (math.log10(end) if control.scale == "log" else end for end in (control.low, control.high))
    inside = st.floats(low, high).map(lambda place: 10**place if control.scale == "log" else place)
    number = inside.map(lambda value: min(max(float(f"{value:.3g}"), control.low), control.high))
    return st.sampled_from((control.low, control.high)) | (number.map(round) if control.whole else number)


UGLY = {
    "an exponent as Python writes it": re.compile(r"[0-9]e[+-]?0|[0-9]e\+"),
    "more digits than anybody reads": re.compile(r"[0-9,.]{19,}"),
    "one of many": re.compile(
        r"(?<![0-9.,^])1 (?:compute |calendar )?(?:GPUs|GPU-hours|days|tokens|parameters|passes)\b"
    ),
    "nothing, signed": re.compile(r"-0(?:\.0+)?(?![0-9.e])"),
    "a word of Python": re.compile(r"\b(?:nan|inf|None|np|float64)\b"),
}


@pytest.mark.parametrize("what_if", catalogue.WHAT_IFS.values(), ids=catalogue.WHAT_IFS)
@given(data=st.data())
def test_whatever_is_moved_an_answer_reads_well_and_says_what_its_values_are(what_if, data):
    """And its command means the same values; a refusal is one of an input."""
    answer = tried(what_if, data.draw(slid(what_if)))
    if isinstance(answer, catalogue.RefusedError):
        assert answer.control in {control.name for control in what_if.controls}, answer
        assert ugly(str(answer)) == {}
        return
    assert ugly(text.answer_text(answer, explain=True)) == {}
    for row in (row for row in answer.view.rows if not isinstance(row.value, str)):
        digits = {"abs": 5.1e-5} if row.unit.startswith("nats") else {"rel": 5.1e-4}
        assert shown(row.text) == pytest.approx(row.value * (100 if row.unit == "%" else 1), **digits), row
    settings = dict(word.split("=", 1) for word in shlex.split(answer.command)[3:])
    assert repr(what_if.starting_values() | catalogue.read(what_if, settings)) == repr(answer.values)  # of one kind too


def tried(what_if, moved):
    """The answer or the refusal."""
    try:
        return catalogue.solve(what_if, moved)
    except catalogue.RefusedError as refused:
        return refused


def ugly(said):
    return {words: found for words, pattern in UGLY.items() if (found := pattern.findall(said))}


def shown(words):
    number, letter = re.match(r"(-?[0-9,]*[.]?[0-9]+(?:e-?[0-9]+)?)([KMBT]?)(?: |%|$)", words).groups()
    return float(number.replace(",", "")) * {"": 1, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}[letter]


def _control(what_if, name):
    return next(control for control in catalogue.find(what_if).controls if control.name == name)


@pytest.mark.parametrize("percentage", ["20%", "20 percent"])
@pytest.mark.parametrize(
    ("what_if", "name"),
    [
        ("recipe-by-scale", "tokens_per_param"),
        ("schedule", "peak_lr"),
        ("run-design", "size_span"),
        ("law-explorer", "n_experts"),
    ],
)
def test_what_is_no_share_is_not_read_as_a_percentage(what_if, name, percentage):
    with pytest.raises(ValueError, match=rf"^{name} = '{percentage}': no share of something"):
        _control(what_if, name).read(percentage)


@pytest.mark.parametrize("percentage", ["20%", "20 percent"])
@pytest.mark.parametrize(
    ("what_if", "name"), [("schedule", "decay_share"), ("days-and-mfu", "goodput"), ("worked-example", "mfu")]
)
def test_a_share_is_read_as_a_percentage(what_if, name, percentage):
    assert _control(what_if, name).read(percentage) == 0.2
