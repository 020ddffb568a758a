"""The what-ifs on days and utilization: the numbers of a view are those of `lib`, and a slip is refused in one line."""

import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture import MODELS, model
from lib.compute import calendar_days, model_flops_utilization, training_days
from lib.compute.mfu import CONVENTIONS, MfuConvention, convention, days_under
from lib.hardware import ACCELERATORS
from lib.whatif import catalogue
from lib.whatif.conventions import conventions_view

LLAMA_8B = 8_030_261_248
H100 = 989.4e12


def rows(name, **settings):
    """The rows of an answer by group and label."""
    return {(row.group, row.label): row for row in catalogue.answer(name, settings).rows}


def value(found, label):
    (row,) = [row for (_, known), row in found.items() if known == label]
    return row.value


def refusal(name, **settings):
    with pytest.raises(catalogue.RefusedError) as refused:
        catalogue.answer(name, settings)
    return str(refused.value)


# Days and MFU


def test_the_days_are_those_of_training_days():
    found = rows("days-and-mfu")
    days = training_days(LLAMA_8B, 15e12, 1024, H100, 0.40)
    assert value(found, "compute days") == days
    assert value(found, "calendar days") == calendar_days(days)
    assert value(found, "GPU-hours") == pytest.approx(1024 * 24 * days / 0.9, rel=1e-12)


def test_the_speed_gives_the_mfu_back():
    speed = value(rows("days-and-mfu", mfu="40%"), "speed while it computes")
    assert model_flops_utilization(LLAMA_8B, speed, 1024, H100) == pytest.approx(0.40, rel=1e-12)


@pytest.mark.parametrize("name", ["Megatron-Bridge", "Megatron-LM", "PaLM", "Kaplan"])
def test_the_days_under_the_other_conventions_stand_beside(name):
    counted = convention(name).dividing_by(H100, "H100, dense bf16")
    days = days_under(counted, model("llama-3-8b"), 15e12, 8192, 1024, 0.40)
    assert value(rows("days-and-mfu"), name) == pytest.approx(days / 0.9, rel=1e-12)


def test_it_starts_where_the_count_decides_about_the_deadline():
    verdicts = [check.passed for check in catalogue.answer("days-and-mfu").checks]
    assert verdicts == [True, True, False]


def test_a_model_brings_its_own_size_and_shape():
    found = rows("days-and-mfu", model="llama-3-70b")
    assert value(found, "training compute, 6ND") == 6 * 70_553_706_496 * 15e12
    assert MODELS["Llama 3 70B"].text in found[("If that MFU was counted as others count", "PaLM")].assumed[0]


def test_a_free_size_takes_the_shape_of_the_nearest_model_and_says_so():
    answer = catalogue.answer("days-and-mfu", {"n_params": "1T"})
    assert "that of Llama 3 405B, the released model nearest in size" in answer.notes[0]


def test_a_size_beside_another_model_is_refused():
    assert "Llama 3 8B has 8,030,261,248; a free size needs model='any size'" in refusal(
        "days-and-mfu", model="llama-3-8b", n_params="70B"
    )


def test_every_accelerator_answers_with_its_widest_16_bits():
    for name in ACCELERATORS:
        dtype = "bf16" if "bf16" in ACCELERATORS[name].peaks else "fp16"
        found = rows("days-and-mfu", accelerator=name, dtype=dtype)
        peak = found[("What is needed, what the cluster gives", "peak of the cluster")]
        assert peak.value == 1024 * ACCELERATORS[name].peak_flops(dtype)
        assert peak.sources[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mfu": "45"}, "mfu = 45: a fraction above 0, at most 1; 45% is written 0.45"),
        ({"goodput": "90"}, "90% is written 0.9"),
        ({"n_gpus": "0"}, "n_gpus = 0"),
        ({"days": "0"}, "days = 0"),
        ({"seq_len": "0.5"}, "seq_len = 0.5"),
        ({"n_tokens": "-1"}, "n_tokens = -1"),
        ({"accelerator": "v100"}, "V100 SXM 32GB has no bf16; it has fp32, fp16"),
        ({"accelerator": "h10"}, "accelerator = 'h10'"),
        ({"gpus": "8"}, "did you mean 'n_gpus'?"),
        ({"tokens": "1T"}, "did you mean 'n_tokens'?"),
    ],
)
def test_a_slip_is_refused_in_one_line(settings, message):
    assert message in refusal("days-and-mfu", **settings)


# Conventions


def test_800_teraflops_are_13813_tokens_a_second_and_711_elsewhere():
    found = rows("mfu-conventions")
    assert value(found, "one GPU") == pytest.approx(13_813, abs=0.5)
    assert found[("As TFLOP/s per GPU", "Megatron-Bridge")].value == pytest.approx(711, abs=0.5)
    assert found[("As TFLOP/s per GPU", "Megatron-LM")].value == pytest.approx(800, rel=1e-12)


def test_the_other_vendor_s_744_are_the_faster_run():
    speed = value(rows("mfu-conventions", figure="744", convention="megatron-bridge"), "one GPU")
    assert speed == pytest.approx(14_451, rel=1e-3)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_share_comes_back_whatever_it_counts(name):
    unit = CONVENTIONS[name].measure
    settings = {"figure": "40%", "unit": unit, "convention": name, "dtype": "bf16"}
    found = rows("mfu-conventions", **settings)
    assert found[("As a share of the peak", f"{unit}, {name}")].value == pytest.approx(0.40, rel=1e-12)


def test_units_are_taken_as_they_are_typed():
    assert rows("mfu-conventions", unit="tflops") == rows("mfu-conventions")
    speed = rows("mfu-conventions", unit="tokens/s", figure="110496")
    assert value(speed, "one GPU") == 110_496 / 8
    for text in ("800 TFLOP/s", "800 TFLOP/s per GPU", "800 TFLOPs"):
        assert rows("mfu-conventions", figure=text) == rows("mfu-conventions")


def test_the_figure_is_read_in_its_unit_in_whatever_order_both_are_given():
    for settings in ({"figure": "45%", "unit": "mfu"}, {"unit": "mfu", "figure": "45%"}):
        assert catalogue.solve("mfu-conventions", settings | {"dtype": "bf16"}).values["figure"] == 0.45


def test_a_share_above_the_peak_is_pointed_out():
    answer = catalogue.answer("mfu-conventions", {"dtype": "bf16"})
    assert answer.notes[0].startswith("Above the peak, hence not what this run does: Megatron-LM hardware")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unit": "MFU", "figure": "46.2"}, "46.2% is written 0.462"),
        ({"unit": "HFU", "figure": "0.5"}, "the convention 'Megatron-LM' counts no recomputation"),
        ({"convention": "megatron"}, "convention = 'megatron'"),
        ({"n_gpus": "-3"}, "n_gpus = -3"),
        ({"figure": "0"}, "figure = 0"),
        ({"figure": "45%"}, "figure = '45%': the unit '%' is not one of K, M, B, T, P, E, TFLOP/s per GPU"),
        ({"figure": "45%", "unit": "tokens/s"}, "figure = '45%': the unit '%' is not one of"),
        ({"figure": "45 days", "unit": "MFU"}, "figure = '45 days': the unit 'days' is not one of"),
    ],
)
def test_a_figure_that_means_nothing_is_refused(settings, message):
    assert message in refusal("mfu-conventions", **settings)


@pytest.mark.parametrize("name", ["days-and-mfu", "mfu-conventions"])
def test_every_number_can_be_unfolded(name):
    for row in catalogue.answer(name).rows:
        assert row.formula or row.assumed, row.label
        assert row.convention or row.sources, row.label


def test_a_count_that_nobody_has_named_is_answered_first():
    own = MfuConvention(attention="causal")
    view = conventions_view(convention=own)
    first = view.rows[2]
    assert (first.group, first.label) == ("As TFLOP/s per GPU", "as reported")
    assert first.value == pytest.approx(800, rel=1e-12)


# Laws that hold wherever the controls stand.

amounts = {"n_params": st.floats(1e8, 2e12), "n_tokens": st.floats(1e9, 1e14), "n_gpus": st.integers(1, 100_000)}
shares = {"mfu": st.floats(0.05, 0.75), "goodput": st.floats(0.5, 1)}
lengths = {"seq_len": st.integers(1024, 131_072)}
TIMES = ("compute days", "calendar days", "Megatron-Bridge", "Megatron-LM", "PaLM", "Kaplan")


@given(moved=st.fixed_dictionaries(amounts | shares | lengths))
def test_the_parts_of_a_run_make_up_its_whole(moved):
    found = {row.label: row.value for row in catalogue.answer("days-and-mfu", moved).rows}
    seconds = found["compute days"] * 86_400
    approx = partial(pytest.approx, rel=1e-12)
    assert found["of it useful"] == approx(found["peak of the cluster"] * moved["mfu"])
    assert found["training compute, 6ND"] == approx(6 * moved["n_params"] * moved["n_tokens"])
    assert found["training compute, 6ND"] == approx(found["of it useful"] * seconds)
    assert found["speed while it computes"] * seconds == approx(moved["n_tokens"])
    assert found["calendar days"] * moved["goodput"] == approx(found["compute days"])
    assert found["GPU-hours"] == approx(moved["n_gpus"] * found["calendar days"] * 24)
    assert found["Kaplan"] < found["Megatron-Bridge"] < found["Megatron-LM"] < found["PaLM"] * 1.000001


@given(
    moved=st.fixed_dictionaries(amounts | shares | lengths),
    name=st.sampled_from(["n_gpus", "mfu", "goodput", "n_tokens", "seq_len"]),
    factor=st.floats(1.01, 3),
)
def test_more_gpus_never_take_more_days_and_more_tokens_never_fewer(moved, name, factor):
    more = math.ceil(moved[name] * factor) if name in ("n_gpus", "seq_len") else moved[name] * factor
    changed = moved | {name: min(more, 1.0) if name in shares else more}
    before, after = ({r.label: r.value for r in catalogue.answer("days-and-mfu", s).rows} for s in (moved, changed))
    for time in TIMES:
        shorter, longer = (after, before) if name in ("n_gpus", *shares) else (before, after)
        assert shorter[time] <= longer[time] * (1 + 1e-12)
