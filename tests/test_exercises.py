"""Every question: its solution passes, its stub fails, typical mistakes fail with the sentence meant for them."""

import json
import math

import pytest

from lib.exercises import QUESTIONS, Case, cases, judge
from lib.exercises.draws import generator

SEEDS = (0, 1, "a seed that graders keep")
ASKED = [(asked, seed) for asked in QUESTIONS.values() for seed in SEEDS]
NAMES = [f"{asked.name}-{seed}" for asked, seed in ASKED]


def _row(asked, seed, visible=True):
    return cases(asked, seed, student="s1", secret="kept", visible=visible)


@pytest.mark.parametrize(("asked", "seed"), ASKED, ids=NAMES)
def test_the_reference_solution_passes_every_case(asked, seed):
    for case in _row(asked, seed):
        verdict = judge(asked, case, asked.answer(case.inputs))
        assert verdict.ok, (case, verdict)


@pytest.mark.parametrize(("asked", "seed"), ASKED, ids=NAMES)
def test_a_typical_mistake_fails_with_its_own_sentence(asked, seed):
    row = _row(asked, seed)
    told = {wrong.slip for case in row for wrong in case.wrongs}
    assert told == {slip.name for slip in asked.slips}
    assert len(told) >= 2
    for case in row:
        for slip in asked.slips:
            verdict = judge(asked, case, slip.gives(**case.inputs))
            if slip.name in {wrong.slip for wrong in case.wrongs}:
                assert (verdict.ok, verdict.slip) == (False, slip.name)
                assert slip.sentence in verdict.sentence


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_an_empty_stub_fails(asked):
    names = {}
    exec(asked.stub_source, names)
    if asked.kind == "value":
        assert judge(asked, _row(asked, 0)[0], names[asked.name]).outcome == "nothing"
        return
    for case in _row(asked, 0):
        with pytest.raises(NotImplementedError):
            names[asked.name](**case.inputs)


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_the_solution_as_text_is_the_solution(asked):
    case, names = _row(asked, 0)[-1], {}
    exec(asked.solution_source(case.inputs), names)
    given = names[asked.name] if asked.kind == "value" else names[asked.name](**case.inputs)
    assert given == asked.answer(case.inputs)


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_a_case_comes_back_from_json_as_it_was(asked):
    for case in _row(asked, 0):
        assert Case.of(json.loads(json.dumps(case.plain, allow_nan=False))) == case


def test_numbers_differ_by_student_and_by_secret_and_are_the_same_again():
    draws = [generator("name", 0, student, secret).random() for student in "ab" for secret in ("x", "y", None)]
    assert len(set(draws)) == len(draws)
    assert draws[0] == generator("name", 0, "a", "x").random()


@pytest.mark.parametrize("asked", [q for q in QUESTIONS.values() if q.kind == "value"], ids=lambda asked: asked.name)
def test_a_value_is_graded_on_the_numbers_that_were_shown(asked):
    assert cases(asked, "one", student="s") == cases(asked, "other", student="s")


ODD = (math.nan, math.inf, -math.inf, 10**400, -(10**5000), None, True, "", "x" * 10**6, b"1", [], [[]], {}, {1: 2})
ODD += (object(), 1j, (1, 2, 3), [math.nan, math.nan], range(3), print, 0, -1.0, [None, None], ["1", 2])


class Equal(float):
    """Claims to equal everything."""

    def __eq__(self, other):
        return True

    __hash__ = None
    __ge__ = __le__ = __lt__ = __gt__ = __ne__ = __eq__


@pytest.mark.parametrize("visible", [True, False])
@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_no_odd_value_passes_or_breaks_the_judge(asked, visible):
    case = _row(asked, 0, visible)[-1]
    for odd in (*ODD, Equal(1), [Equal(1), Equal(2)]):
        verdict = judge(asked, case, odd)
        assert not verdict.ok
        assert len(verdict.sentence) > 15
        assert len(verdict.sentence) < 400


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=QUESTIONS)
def test_a_hidden_case_tells_neither_inputs_nor_values(asked):
    for case in _row(asked, 5, visible=False):
        marks = [value for value in case.inputs.values() if type(value) is float and value > 100]
        for given in (case.expected, 12345.678, marks, *marks):
            sentence = judge(asked, case, given).sentence
            for value in (*marks, case.expected, 12345.678):
                assert f"{value:.3g}" not in sentence if type(value) is float else True
