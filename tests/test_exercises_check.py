"""`check` in a notebook: whatever the student's code does, a clear verdict comes back as a table."""

import builtins
import functools
import sys

import numpy as np
import pytest

from lib import compute
from lib.exercises import Report, cases, check, question
from lib.exercises.trying import MOST_PRINTED, try_answer


def solved(n_params, n_tokens):
    return 6 * n_params * n_tokens


def endless(n_params, n_tokens):
    return endless(n_params, n_tokens)


def loud(n_params, n_tokens):
    print("x" * 10_000_000)
    print("x" * 10_000_000, file=sys.stderr)
    return 6 * n_params * n_tokens


def leaving(n_params, n_tokens):
    sys.exit(0)


def interrupted(n_params, n_tokens):
    raise KeyboardInterrupt


class MuteError(Exception):
    """Cannot be told."""

    def __str__(self):
        raise ValueError


def mute(n_params, n_tokens):
    raise MuteError


def patching(n_params, n_tokens):
    builtins.abs = lambda number: 0.0
    builtins.len = None
    return 1.0


OUTCOMES = [
    (endless, "raised", "calls itself without end"),
    (leaving, "raised", "exit"),
    (interrupted, "stopped", "loop"),
    (mute, "raised", "cannot be shown"),
    (patching, "builtins", "abs, len"),
    (lambda n_params, n_tokens: 1 / 0, "raised", "ZeroDivisionError"),
    (lambda n_params, n_tokens: undefined, "raised", "'undefined' is not defined"),  # noqa: F821
    (lambda n_params, n_tokens: float("nan"), "not finite", "nan"),
    (lambda n_params, n_tokens: None, "nothing", "return"),
    (lambda n_params, n_tokens: "1e9", "wrong type", "quotes"),
    (lambda n_params, n_tokens: np.float64(6), "wrong type", "float(...)"),
    (lambda n_params: 1.0, "wrong parameters", "n_params, n_tokens"),
    (1.2e20, "missing", "no function"),
    (None, "missing", "no function"),
]


@pytest.mark.parametrize(("answer", "outcome", "words"), OUTCOMES, ids=range(len(OUTCOMES)))
def test_whatever_a_function_does_there_is_a_clear_verdict(answer, outcome, words):
    report = check("train_flops", answer)
    verdict = report.rows[-1].verdict
    assert not report.ok
    assert verdict.outcome == outcome
    assert words in verdict.sentence
    assert abs(-1) == len("1") == 1


def test_what_a_kernel_replaces_between_cells_is_nobodys_fault(monkeypatch):
    of_the_kernel = lambda prompt="": ""  # noqa: E731
    monkeypatch.setattr(builtins, "input", of_the_kernel)
    assert check("train_flops", solved).ok
    assert builtins.input is of_the_kernel


def test_what_was_replaced_in_an_earlier_cell_is_put_back(monkeypatch):
    monkeypatch.setattr(builtins, "abs", lambda number: 0.0)
    report = check("train_flops", solved)
    assert (report.ok, report.rows[0].verdict.outcome) == (False, "builtins")
    assert abs(-1) == 1
    assert check("train_flops", solved).ok


def test_a_right_answer_is_right_case_by_case():
    report = check("train_flops", solved)
    assert report.ok
    assert len(report.rows) >= 6
    assert report.summary == f"Compute of a run: {len(report.rows)} of {len(report.rows)} right."


def test_printed_megabytes_are_cut_and_do_no_harm(capsys):
    report = check("train_flops", loud)
    assert report.ok
    assert len(report._repr_html_()) < 5_000
    assert "Printed: xxx" in repr(report)
    assert max(len(row.printed) for row in report.rows) == MOST_PRINTED
    assert capsys.readouterr().out == ""


def test_a_function_that_changes_its_inputs_changes_no_case():
    row = cases(question("run_in_time"))
    before = [len(case.inputs["runs"]) for case in row]

    def emptying(runs, *others):
        runs.clear()
        return "A"

    try_answer("emptied", row, emptying)
    assert [len(case.inputs["runs"]) for case in row] == before


def resisting():
    """An object whose class does not want to be looked at either; pytest would look."""

    def refuse(self, name):
        raise RuntimeError

    meta = type("Resisting", (type,), {"__getattribute__": refuse})
    return meta("Stubborn", (), {"__slots__": (), "__getattribute__": refuse})()


def test_an_object_that_resists_is_no_answer():
    for answer in (resisting(), lambda n_params, n_tokens: resisting()):
        report = check("train_flops", answer)
        assert not report.ok
        assert report.rows[0].verdict.sentence
    assert not check("tokens_served", resisting()).ok


def wrapped(n_params, n_tokens):
    return compute.train_flops(n_params, n_tokens)


def by_helper(n_params, n_tokens):
    return wrapped(n_params, n_tokens)


def inside(n_params, n_tokens):
    from lib.compute import train_flops

    return train_flops(n_params, n_tokens)


@functools.wraps(compute.train_flops)
def dressed(n_params, n_tokens):
    return 0.0


@pytest.mark.parametrize(
    "answer",
    [
        compute.train_flops,
        functools.partial(compute.train_flops),
        lambda n_params, n_tokens: compute.train_flops(n_params, n_tokens),
        wrapped,
        by_helper,
        inside,
        dressed,
        question("train_flops").solution,
    ],
    ids=range(8),
)
def test_the_function_of_the_library_is_no_solution(answer):
    report = check("train_flops", answer)
    assert not report.ok
    assert report.rows[0].verdict.outcome == "from lib"
    assert "no solution" in report.rows[0].verdict.sentence


def test_a_function_that_names_nothing_of_the_library_is_ones_own():
    assert check("train_flops", functools.partial(solved)).ok


def test_the_table_has_headings_and_its_text_is_escaped():
    def tag(n_params, n_tokens):
        print("<script>alert(2)</script>")
        raise ValueError("<script>alert(1)</script>")

    html = check("train_flops", tag)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "&lt;script&gt;alert(2)" in html
    assert html.count('scope="col"') == 3
    assert html.count('scope="row"') == html.count("<tr>") - 1
    assert "<caption" in html


def test_the_same_verdicts_stand_in_the_text():
    report = check("train_flops", lambda n_params, n_tokens: n_params * n_tokens)
    assert isinstance(report, Report)
    assert repr(report).count("not yet") == len(report.rows)
    assert "The factor is missing" in repr(report)


def test_an_unknown_question_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean 'train_flops'"):
        check("train_flop", solved)
