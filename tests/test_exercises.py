"""Every question: its solution passes, its stub fails, typical mistakes fail with the sentence meant for them."""

import json
import math
from functools import cache
from itertools import combinations, product

import pytest

from lib.exercises import QUESTIONS, Case, cases, judge
from lib.exercises.verdict import shown

SEEDS = (0, 1, "a seed that graders keep")


@cache
def _row(asked, seed, visible=True):
    return cases(asked, seed, student="s1", secret="kept", visible=visible)


def test_the_reference_solution_passes_every_case():
    for asked in QUESTIONS.values():
        for case in (case for seed in SEEDS for case in _row(asked, seed)):
            verdict = judge(asked, case, asked.answer(case.inputs))
            assert verdict.ok, (case, verdict)


def test_a_typical_mistake_fails_with_its_own_sentence():
    for asked in QUESTIONS.values():
        for seed in SEEDS:
            found = [(case, slip) for case in _row(asked, seed) for slip in asked.slips if _shows(case, slip)]
            assert {slip.name for _, slip in found} == {slip.name for slip in asked.slips}
            for case, slip in found:
                verdict = judge(asked, case, slip.gives(**case.inputs))
                assert (verdict.ok, verdict.slip) == (False, slip.name)
                assert slip.sentence in verdict.sentence
        assert len(asked.slips) >= 2


def _shows(case, slip):
    return slip.name in {wrong.slip for wrong in case.wrongs}


def test_a_mistake_that_a_case_cannot_show_is_not_named_for_another():
    for asked in QUESTIONS.values():
        for case in _row(asked, 0):
            values = {slip.name: slip.gives(**case.inputs) for slip in asked.slips if not _shows(case, slip)}
            for value in (value for value in values.values() if value is not None):
                assert judge(asked, case, value).slip in ("", *values)


def test_an_empty_stub_fails():
    for asked in QUESTIONS.values():
        names = {}
        exec(asked.stub_source, names)
        if asked.kind == "value":
            assert judge(asked, _row(asked, 0)[0], names[asked.name]).outcome == "not written"
            continue
        for case in _row(asked, 0):
            with pytest.raises(NotImplementedError):
                names[asked.name](**case.inputs)


def test_the_solution_as_text_is_the_solution():
    for asked in QUESTIONS.values():
        case, names = _row(asked, 0)[-1], {}
        exec(asked.solution_source(case.inputs), names)
        given = names[asked.name] if asked.kind == "value" else names[asked.name](**case.inputs)
        assert judge(asked, case, given).ok


def test_a_case_comes_back_from_json_as_it_was():
    for asked in QUESTIONS.values():
        for case in _row(asked, 0):
            assert Case.of(json.loads(json.dumps(case.plain, allow_nan=False))) == case


def test_numbers_differ_by_student_and_by_secret_and_are_the_same_again():
    def drawn(student, secret, seed=0):
        return [
            case.inputs["compute"]
            for case in cases(QUESTIONS["chinchilla_optimal"], seed, student=student, secret=secret)
        ]

    rows = [drawn(student, secret)[2:] for student in "ab" for secret in ("x", "y", None)]
    assert not any(set(one) & set(other) for one, other in combinations(rows, 2))
    assert drawn("a", "x")[2:] == rows[0]
    assert drawn("a", "x", seed=1) != drawn("a", "x", seed=2)


def test_a_value_is_graded_on_the_numbers_that_were_shown():
    for asked in (q for q in QUESTIONS.values() if q.kind == "value"):
        assert cases(asked, "one", student="s") == cases(asked, "other", student="s")


PLACES = {
    "run_in_time": lambda run: run["n_params"] * run["n_tokens"],
    "faster_offer": lambda offer: offer["mfu"],
    "model_for_loss": lambda size: size["n_params"],
    "model_for_life": lambda size: size["n_params"],
    "design_for_brief": lambda design: design["n_tokens"],
    "item_to_start_with": lambda item: item["days"],
    "batch_to_take": lambda batch: batch,
}


def test_no_decision_is_always_the_same_place_in_a_row():
    for name in PLACES:
        places = set()
        for case in (case for seed in range(4) for case in cases(QUESTIONS[name], seed)):
            rows = sorted(next(iter(case.inputs.values())), key=PLACES[name])
            names = [row["name"] if isinstance(row, dict) else row for row in rows]
            places.add(names.index(QUESTIONS[name].answer(case.inputs)))
        assert len(places) > 1


def test_no_decision_follows_from_the_number_of_the_call():
    asked = QUESTIONS["zero_stage_to_take"]
    assert len({tuple(asked.answer(case.inputs) for case in cases(asked, seed)[:4]) for seed in range(4)}) > 1


def test_who_counts_the_input_table_has_read_the_figure_well_enough():
    asked = QUESTIONS["long_days"]  # 6N + 6 L d s of a round 8B
    for student in "abcdefgh":
        case = cases(asked, student=student)[0]
        by_formula = case.inputs["days"] * (1 + 32 * 4096 * case.inputs["seq_len"] / 8e9)
        assert judge(asked, case, by_formula).ok


ODD = (math.nan, math.inf, -math.inf, 10**400, -(10**5000), None, True, "", "x" * 10**6, b"1", [], [[]], {}, {1: 2})
ODD += (object(), 1j, (1, 2, 3), [math.nan, math.nan], range(3), print, 0, -1.0, [None, None], ["1", 2])


class Equal(float):
    """Claims to equal everything."""

    def __eq__(self, other):
        return True

    __hash__ = None
    __ge__ = __le__ = __lt__ = __gt__ = __ne__ = __eq__


def test_no_odd_value_passes_or_breaks_the_judge():
    for asked, visible in product(QUESTIONS.values(), (True, False)):
        case = next(case for case in _row(asked, 0, visible) if asked.answer(case.inputs) != 0)
        for odd in (*ODD, Equal(1), [Equal(1), Equal(2)]):
            verdict = judge(asked, case, odd)
            assert not verdict.ok
            assert 15 < len(verdict.sentence) < 400


def test_a_hidden_case_tells_neither_inputs_nor_values():
    for asked in (q for q in QUESTIONS.values() if q.visible):
        for case in _row(asked, 5, visible=False):
            kept = [value for value in case.inputs.values() if type(value) is float and value > 100]
            for given in (case.expected, 12345.678, kept, *kept):
                sentence = judge(asked, case, given).sentence
                for value in (*kept, case.expected, 12345.678):
                    assert type(value) is not float or f"{value:.4g}" not in sentence, sentence


def test_a_value_is_not_told_to_whoever_asks_for_it():
    for asked in (q for q in QUESTIONS.values() if not q.visible):
        for case in cases(asked):
            for wrong in (1.2345, *(wrong.value for wrong in case.wrongs)):
                told = judge(asked, case, wrong).sentence.split()
                assert shown(case.expected) not in told
                assert shown(wrong) in told or judge(asked, case, wrong).slip


def test_only_values_are_kept():
    assert {asked.kind for asked in QUESTIONS.values() if not asked.visible} == {"value"}
    assert all(asked.visible for asked in QUESTIONS.values() if asked.kind != "value")
