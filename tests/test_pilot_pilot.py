"""The pilot of a described run: its kind is kept, eight devices can share it, and its rate follows the recipes' law."""

from dataclasses import replace

import pytest

from lib.architecture import MODELS
from lib.description import parse
from lib.layout import Layout
from lib.pilot.cuts import degrees
from lib.pilot.pilot import Pilot, scale_down, scaled_rate
from lib.pilot.tensors import tensors
from lib.recipe.lr_law import fitted

TEXT = """tokens = "1T"
[model]
name = "{}"
[cluster]
accelerator = "h100"
n_gpus = 64
[layout]
seq_len = {}
"""
OTHERS = {name for name, m in MODELS.items() if m.moe or m.latent or m.n_mtp_layers or m.attention_sinks}
OTHERS |= {name for name, m in MODELS.items() if not m.norms_outside_layers}
KINDS = ("gated", "tied", "norm", "norms_per_layer", "norms_outside_layers", "qk_norm", "qkv_bias", "mlp_bias")


def described(name, seq_len=2048):
    longest = MODELS[name].learned_positions if name in MODELS else 0
    return parse(TEXT.format(name, min(seq_len, longest or seq_len)))


def test_a_pilot_is_of_its_models_kind_and_eight_devices_can_share_it():
    for name in sorted(set(MODELS) - OTHERS):
        whole, pilot = MODELS[name], scale_down(described(name))
        assert all(getattr(pilot.shape, kind) == getattr(whole, kind) for kind in KINDS)
        assert (pilot.shape.n_kv_heads == 1) == (whole.n_kv_heads == 1)
        assert (pilot.shape.n_kv_heads == pilot.shape.n_heads) == (whole.n_kv_heads == whole.n_heads)
        assert bool(pilot.shape.learned_positions) == bool(whole.learned_positions)
        assert tensors(pilot.shape).keys() == tensors(whole).keys()
        assert tensors(pilot.shape)["layers"].keys() == tensors(whole)["layers"].keys()
        assert pilot.shape.n_params < 250_000
        for layout in (Layout(data=8, seq_len=64), Layout(tensor=8, seq_len=64), Layout(data=2, tensor=4, seq_len=64)):
            degrees(pilot.shape, layout)


@pytest.mark.parametrize("name", ["Mixtral 8x7B", "DeepSeek V3", "gpt-oss 20B"])
def test_a_part_that_the_pilot_does_not_build_is_refused_by_its_name_in_the_file(name):
    with pytest.raises(ValueError, match=r"^model\.(moe|latent) = .*: none, for the pilot builds no such part"):
        scale_down(described(name))


def test_a_model_without_a_norm_behind_its_layers_is_refused_for_it_would_fail_rung_2_although_it_is_sound():
    with pytest.raises(ValueError, match=r"^model\.norms_outside_layers = 0: 1 or 2, for a pilot norms"):
        scale_down(described("OPT 350M"))


def test_a_window_keeps_its_share_of_the_sequence():
    assert scale_down(described("Gemma 2 9B", 8192)).shape.windows == (32, None)
    assert scale_down(described("Gemma 2 9B", 4096)).shape.windows == (None,)


def test_the_rate_moves_as_the_recipes_law_does_where_text_shrinks_with_the_model():
    run, law = described("Llama 3 8B"), fitted("peak_lr")
    size, tokens = run.shape.n_params, run.n_tokens
    moved = law.at(size / 1000, tokens / 1000) / law.at(size, tokens)
    assert scaled_rate(run, size / 1000) == pytest.approx(run.schedule.peak_lr * moved)


def test_a_rate_a_hundred_times_too_high_is_one_in_the_pilot_too():
    run = described("Llama 3 8B")
    wrong = replace(run, schedule=replace(run.schedule, peak_lr=100 * run.schedule.peak_lr))
    assert scale_down(wrong).learning_rate == pytest.approx(100 * scale_down(run).learning_rate)


def test_the_table_has_both_shapes_and_the_rule():
    table = scale_down(described("Llama 3 8B")).table
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["parameters"][:2] == ("8,030,261,248", "115,008")
    assert rows["key heads"][:2] == ("8", "2")
    assert "grouped keys, a gated MLP, a head of its own" in table.caption


def test_a_pilot_with_dropout_of_everything_is_refused():
    pilot = scale_down(described("Llama 3 8B"))
    with pytest.raises(ValueError, match=r"^dropout = 1: below 1"):
        replace(pilot, dropout=1)
    assert isinstance(pilot, Pilot)
