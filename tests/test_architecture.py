"""Exact parameter counts: released models, the seed's shapes, and what must hold for any shape."""

import dataclasses
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib import facts
from lib.architecture import FIGURES, MODELS, NORM_KINDS, QK_NORMS, WORDS, Transformer, model
from lib.compute.flops import head_flops, layer_flops

# model, total, input table, non-embedding, one layer, norms, biases; as PyTorch counts the models that transformers
# 5.24 builds from the released configurations: unique tensors, tied ones once; non-embedding leaves out the input
# table and learned positions only.
COUNTED = [
    ("Llama 3 8B", 8030261248, 525336576, 7504924672, 218112000, 266240, 0),
    ("Llama 3 70B", 70553706496, 1050673152, 69503033344, 855654400, 1318912, 0),
    ("Llama 3 405B", 405853388800, 2101346304, 403752042496, 3187703808, 4145152, 0),
    ("Llama 3.2 1B", 1235814400, 262668288, 973146112, 60821504, 67584, 0),
    ("Mistral 7B", 7241732096, 131072000, 7110660096, 218112000, 266240, 0),
    ("Qwen1.5 72B", 72287920128, 1245708288, 71042211840, 872456192, 1318912, 1966080),
    ("Qwen2 0.5B", 494032768, 136134656, 357898112, 14912384, 43904, 27648),
    ("Qwen3 0.6B", 596049920, 155582464, 440467456, 15730944, 65536, 0),
    ("Gemma 2B", 2506172416, 524288000, 1981884416, 110104576, 75776, 0),
    ("Gemma 2 9B", 9241705984, 917504000, 8324201984, 198195200, 605696, 0),
    ("Gemma 3 1B", 999885952, 301989888, 697896064, 26842112, 134272, 0),
    ("Phi-2", 2779683840, 131072000, 2648611840, 78671360, 168960, 872960),
    ("Phi-3 mini", 3821079552, 98500608, 3722578944, 113252352, 199680, 0),
    ("OLMo 1B", 1176764416, 103022592, 1073741824, 67108864, 0, 0),
    ("OLMo 2 7B", 7298617344, 411041792, 6887575552, 202391552, 528384, 0),
    ("Falcon 7B", 6921720704, 295469056, 6626251648, 207070080, 299904, 149952),
    ("GPT-2", 124439808, 38597376, 85056000, 7087872, 38400, 102144),
    ("GPT-NeoX 20B", 20554567680, 309854208, 20244713472, 453064704, 1093632, 2979840),
    ("Pythia 6.9B", 6857302016, 206569472, 6650732544, 201379840, 532480, 1445888),
    ("OPT 125M", 125239296, 38608896, 85056000, 7087872, 38400, 102144),
    ("OPT 350M", 331196416, 25739264, 303357952, 12596224, 98304, 270336),
    ("BLOOM 560M", 559214592, 256901120, 302313472, 12596224, 102400, 272384),
    ("StarCoder2 3B", 3030371328, 150994944, 2879376384, 95979008, 374784, 847872),
    ("SmolLM2 135M", 134515008, 28311552, 106203456, 3540096, 35136, 0),
    ("SmolLM3 3B", 3075098624, 262668288, 2812430336, 78123008, 149504, 0),
]


@pytest.mark.parametrize(("name", "total", "table", "non_embedding", "layer", "norms", "biases"), COUNTED)
def test_a_released_model_has_the_parameters_that_its_framework_counts(
    name, total, table, non_embedding, layer, norms, biases
):
    shape = model(name)
    assert shape.n_params == total
    assert shape.input_embedding_params == table
    assert shape.non_embedding_params == non_embedding
    assert shape.layer_params == layer
    assert shape.norm_params == norms
    assert shape.bias_params == biases


@pytest.mark.parametrize(("name", "rows"), [("GPT-2", 786432), ("OPT 125M", 1574400), ("OPT 350M", 2099200)])
def test_learned_positions_are_counted_with_their_spare_rows(name, rows):
    assert model(name).components["positions"] == rows


# The model card of the suite prints "non-embedding" without either table, Kaplan's count.
@pytest.mark.parametrize(
    ("name", "without_vocabulary"),
    [
        ("Pythia 70M", 18_915_328),
        ("Pythia 160M", 85_056_000),
        ("Pythia 410M", 302_311_424),
        ("Pythia 1B", 805_736_448),
        ("Pythia 1.4B", 1_208_602_624),
        ("Pythia 2.8B", 2_517_652_480),
        ("Pythia 6.9B", 6_444_163_072),
        ("Pythia 12B", 11_327_027_200),
    ],
)
def test_pythia_without_its_vocabulary_is_what_its_model_card_prints(name, without_vocabulary):
    assert model(name).non_vocabulary_params == without_vocabulary


def test_every_row_of_the_model_file_counts_to_the_total_it_names():
    stated = facts.load("models", FIGURES, WORDS, labels=("aliases",))
    assert {name: shape.n_params for name, shape in MODELS.items()} == {n: e["n_params"] for n, e in stated.items()}


def test_every_mixture_of_the_model_file_has_the_active_parameters_it_names():
    stated = facts.load("models", FIGURES, WORDS, labels=("aliases",))
    named = {name: entry["n_params_active"] for name, entry in stated.items() if "n_params_active" in entry.facts}
    assert {name: shape.n_params_active for name, shape in MODELS.items() if shape.moe} == named


def test_every_released_model_names_its_configuration_file_and_where_it_was_read():
    assert all(", config.json; " in shape.source for shape in MODELS.values())


# The worked example of the A100 fortnight: vocabulary 32,000, untied, gated, RMSNorm, d_ff = int(2.67 d_model). Its
# "non-embedding" leaves out both tables.
@pytest.mark.parametrize(
    ("n_layers", "d_model", "n_heads", "d_ff", "layer", "non_vocabulary", "table", "total"),
    [
        (24, 2048, 16, 5468, 50376704, 1209042944, 65536000, 1340114944),
        (32, 1792, 14, 4784, 38567424, 1234159360, 57344000, 1348847360),
        (28, 1920, 15, 5126, 44275200, 1239707520, 61440000, 1362587520),
    ],
)
def test_the_seed_shapes_have_the_counts_that_it_prints(
    n_layers, d_model, n_heads, d_ff, layer, non_vocabulary, table, total
):
    shape = Transformer(n_layers=n_layers, d_model=d_model, n_heads=n_heads, d_ff=d_ff, vocab_size=32_000)
    assert d_ff == int(2.67 * d_model)
    assert (shape.layer_params, shape.non_vocabulary_params) == (layer, non_vocabulary)
    assert (shape.input_embedding_params, shape.n_params) == (table, total)


def test_kaplans_twelve_times_layers_times_width_squared_is_the_weights_in_the_layers():
    gpt2 = model("GPT-2")  # Kaplan et al. 2020, section 2.1: d_ff = 4 d_model, no biases
    assert gpt2.matmul_params == 12 * gpt2.n_layers * gpt2.d_model**2


def test_a_tied_head_multiplies_but_is_not_stored_again():
    tied, untied = model("Llama 3.2 1B"), replace(model("Llama 3.2 1B"), tied=False)
    assert tied.components["output head"] == 0
    assert untied.n_params - tied.n_params == tied.input_embedding_params
    assert tied.head_matmul_params == untied.head_matmul_params == 128256 * 2048


def test_a_narrow_table_is_projected_on_both_sides():
    opt = model("OPT 350M")
    assert opt.components["embedding projections"] == 2 * 512 * 1024
    assert opt.matmul_params - 24 * opt.layer_matmul_params == 512 * 1024
    assert opt.head_matmul_params == 50272 * 512 + 512 * 1024


def test_the_head_dimension_is_free_of_the_width():
    qwen = model("Qwen3 0.6B")
    assert (qwen.attention_width, qwen.d_model) == (2048, 1024)


@pytest.mark.parametrize("name", ["llama-3-8b", "LLAMA_3 8b", "Llama 3.1 8B"])
def test_a_model_is_found_however_its_name_is_written(name):
    assert model(name).n_params == 8_030_261_248


def test_a_model_that_is_missing_gets_the_nearest_name():
    with pytest.raises(ValueError, match=r"model = 'lama-3-8b': .*did you mean 'Llama 3 8B'"):
        model("lama-3-8b")


SMALL = {"n_layers": 2, "d_model": 64, "n_heads": 4, "d_ff": 192, "vocab_size": 1000}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_kv_heads": 3}, "n_kv_heads = 3: a divisor of n_heads = 4, .*nearest 2 or 4"),
        ({"n_kv_heads": 8}, "n_kv_heads = 8: a divisor of n_heads = 4, .*nearest 4"),
        ({"n_heads": 5}, "head_dim = None: .*give head_dim, or a d_model of 60 or 65, or 4 or 8 heads"),
        ({"n_heads": 128}, "head_dim = None: .*a d_model of 128, or 64 heads"),
        ({"n_layers": 0}, "n_layers = 0: a whole number, 1 or more"),
        ({"learned_positions": -1}, "learned_positions = -1: a whole number, 0 or more"),
        ({"norm": "rmsnorm"}, "norm = 'rmsnorm': one of rms, .*did you mean 'rms'"),
        ({"qk_norm": "heads"}, "qk_norm = 'heads': .*did you mean 'head'"),
        ({"d_ff": 10**400}, "d_ff = an integer of 1329 bits"),
    ],
)
def test_a_shape_that_cannot_be_built_is_refused_with_the_nearest_that_can(change, message):
    with pytest.raises(ValueError, match=message):
        Transformer(**SMALL | change)


def test_equal_heads_are_the_rule_where_nothing_is_said():
    shape = Transformer(**SMALL)
    assert (shape.n_kv_heads, shape.head_dim, shape.embedding_width) == (4, 16, 64)


@st.composite
def shapes(draw):
    n_kv_heads = draw(st.integers(1, 8))
    sizes = st.integers(1, 64)
    flags = {field.name: draw(st.booleans()) for field in dataclasses.fields(Transformer) if field.type is bool}
    return Transformer(
        n_layers=draw(sizes),
        d_model=8 * draw(sizes),
        n_kv_heads=n_kv_heads,
        n_heads=n_kv_heads * draw(st.integers(1, 8)),
        head_dim=draw(sizes),
        d_ff=draw(sizes),
        vocab_size=draw(sizes),
        norm=draw(st.sampled_from(list(NORM_KINDS))),
        qk_norm=draw(st.sampled_from(QK_NORMS)),
        norms_per_layer=draw(st.integers(0, 4)),
        norms_outside_layers=draw(st.integers(0, 2)),
        learned_positions=draw(st.integers(0, 64)),
        embedding_width=draw(st.none() | sizes),
        **flags,
    )


@given(shapes())
def test_the_components_sum_to_the_whole(shape):
    assert sum(shape.components.values()) == shape.n_params
    assert sum(shape.layer_components.values()) == shape.layer_params
    assert shape.n_params == shape.non_embedding_params + shape.input_embedding_params + shape.components["positions"]


@given(shapes())
def test_every_parameter_is_a_weight_of_a_product_a_norm_a_bias_or_a_row(shape):
    products = shape.matmul_params + (0 if shape.tied else shape.head_matmul_params)
    if shape.tied and shape.embedding_width != shape.d_model:
        products += shape.embedding_width * shape.d_model
    linear_biases = replace(shape, norm="rms").bias_params
    rows = shape.input_embedding_params + shape.components["positions"]
    sinks = shape.n_layers * shape.n_heads if shape.attention_sinks else 0
    assert shape.n_params == products + shape.norm_params + linear_biases + sinks + rows


@given(shapes(), st.integers(2, 5))
def test_layers_cost_the_same_each(shape, times):
    more = replace(shape, n_layers=shape.n_layers * times)
    assert more.n_params - shape.n_params == (times - 1) * shape.n_layers * shape.layer_params


@given(shapes())
def test_no_count_depends_on_what_is_not_there(shape):
    assert shape.bias_params == 0 or any(
        (shape.qkv_bias, shape.attention_output_bias, shape.mlp_bias, shape.head_bias, shape.norm == "layer")
    )
    assert (shape.norm_params == 0) == (shape.norm == "none" or replace(shape, norm="rms").norm_params == 0)


def test_no_size_leads_to_a_count_beyond_any_float():
    sizes = {"n_layers": 2**53, "d_model": 2**53, "n_heads": 1, "d_ff": 2**53, "vocab_size": 2**53}
    assert math.isfinite(layer_flops(Transformer(**sizes)) + head_flops(Transformer(**sizes)))
    for name in sizes:
        with pytest.raises(ValueError, match=f"^{name} = 1e200: a whole number, 1 or more, at most"):
            Transformer(**sizes | {name: 10**200})
