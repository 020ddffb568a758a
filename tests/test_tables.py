"""The small table of the chapters, and that none is made of what no table can show."""

import math
import re

import pytest

from lib import reference
from lib.architecture import model
from lib.architecture.shapes import search
from lib.compute import counts
from lib.compute.gpu_hours import run
from lib.compute.speeds import speed
from lib.hardware import Cluster
from lib.plan import A100_FORTNIGHT, H100_MONTH, Plan, fortnight
from lib.scaling import side_by_side
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
    html = Table(head=("a", "b"), rows=(("part",), ("x", "y")))._repr_html_()
    assert '<th colspan="2" scope="rowgroup">part</th>' in html
    assert '<th scope="row">x</th> <td>y</td>' in html


def test_a_column_of_numbers_stands_right_and_one_of_words_left():
    rows = (("", "word", "13.46B", "-"), ("", "40 x 5,120", "800 TFLOP/s", "+0.21%"), ("", "1", "9.267e9", "14"))
    html = Table(head=("name", "words", "numbers", "more"), rows=rows)._repr_html_()
    right = re.findall(r'<t[hd][^>]*style="text-align:right">([^<]*)<', html)
    assert right == ["numbers", "more", "13.46B", "-", "800 TFLOP/s", "+0.21%", "9.267e9", "14"]


LLAMA, PLAN = model("llama-3-8b"), Plan(brief=A100_FORTNIGHT)
MAKERS = {
    Table: {"head": ("a", "b"), "rows": (("x", "y"),), "caption": "c"},
    counts.speeds: {"names": ["Llama 3 8B, Megatron-LM"]},
    counts.against: {"run": run("llama-3.1-405b"), "reported": speed("llama 3.1 405b, meta"), "goodput": 0.9},
    counts.by_length: {"shape": LLAMA, "lengths": (8192,)},
    counts.length_at: {"shape": LLAMA, "attention": "causal", "ratio": 1.0},
    counts.ratios: {"names": ["llama-3-8b"], "lengths": [8192], "attention": "causal"},
    counts.recomputation: {"shape": LLAMA, "lengths": [2048], "attention": "full"},
    fortnight.budget_stages: {"plan": PLAN},
    fortnight.days_by_count: {"plan": PLAN},
    fortnight.candidate_table: {"candidates": search(13.46e9, n_best=1)},
    fortnight.passes_table: {"n_tokens": 269e9, "names": ["The Pile"]},
    fortnight.hours_table: {"runs": [run("llama 13b")], "mfu": 0.45, "goodput": 1.0},
    side_by_side.sizes: {"brief": H100_MONTH, "names": ["llama-3-8b"]},
    side_by_side.laws: {"compute": 5.76e23},
    side_by_side.runs: {"law_name": "besiroglu"},
    reference.budgets: {"cluster": Cluster(accelerator="h100", n_gpus=8), "mfu": 0.4, "compute": (1e22,)},
}
ARGUMENTS = [(maker, argument) for maker, good in MAKERS.items() for argument in good]
NOTHING = (None, True, -1.0, math.nan, "", [], {}, [None], [-1.0], object())


@pytest.mark.parametrize(("maker", "argument"), ARGUMENTS, ids=lambda value: getattr(value, "__name__", value))
def test_what_no_table_can_be_made_of_is_refused_by_name(maker, argument):
    maker(**MAKERS[maker])
    for bad in (bad for bad in NOTHING if argument != "caption" or bad != ""):
        with pytest.raises((TypeError, ValueError), match=r"^[\w, ]+(\[.*\])?( =| \(|: )"):
            maker(**MAKERS[maker] | {argument: bad})
