"""Configurations of Hugging Face: counted as the released classes allocate, refused in one sentence that says why."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.architecture.families import FAMILIES
from lib.architecture.huggingface import LARGEST_FILE, from_config, parse_config, read_config
from lib.architecture.other_models import INERT, NO_DECODERS, RECURRENT, SAME_AS

_FILE = json.loads((Path(__file__).parent / "transformers_counts.json").read_text(encoding="utf-8"))
COUNTED, NAMED, RELEASED = _FILE["rows"], _FILE["named"], _FILE["released"]


def shape_of(config):
    return from_config(config).shape


def layers_of(shape):
    return [sum(shape.components_of_layer(i).values()) for i in range(shape.n_layers)]


CASES = COUNTED + NAMED


def test_a_configuration_has_the_parameters_that_its_class_allocates():
    for row in CASES:
        shape = shape_of(row["config"])
        assert shape.n_params == row["n_params"]
        assert shape.input_embedding_params == row["input_embedding"]
        assert (shape.norm_params, shape.bias_params) == (row["norms"], row["biases"])
        assert shape.components["positions"] == row.get("positions", 0)
        assert shape.n_params_active == row.get("n_params_active", row["n_params"])
        assert shape.router_buffers == row.get("router_buffers", 0)
        assert layers_of(shape) == [n for n, times in row["layers"] for _ in range(times)]


def test_every_family_was_counted_with_its_defaults_and_five_times_more():
    counted = [row["config"]["model_type"] for row in COUNTED]
    in_transformers = [name for name in FAMILIES if name != "chatglm"]
    assert {name: counted.count(name) for name in in_transformers} == dict.fromkeys(in_transformers, 6)


def test_both_forms_of_glm_4_have_the_same_parameters():
    older = {"model_type": "chatglm", "padded_vocab_size": 151552, "num_layers": 40, "add_qkv_bias": True}
    older |= {"multi_query_attention": True, "multi_query_group_num": 2, "ffn_hidden_size": 13696, "kv_channels": 128}
    assert shape_of(older).components == shape_of({"model_type": "glm"}).components
    # zai-org/glm-4-9b-hf, as transformers 5.18 allocates it.
    assert shape_of(older).n_params == 9_399_951_360


@pytest.mark.parametrize("row", RELEASED, ids=[row["model"] for row in RELEASED])
def test_a_released_configuration_is_counted_to_the_parameter(row):
    shape = shape_of(row["config"])
    found = {
        "n_params": shape.n_params,
        "embedding": shape.input_embedding_params,
        "non_embedding": shape.non_embedding_params,
        "typical_layer": shape.layer_params,
        "norms": shape.norm_params,
        "biases": shape.bias_params,
        "position_embedding": shape.components["positions"],
        "n_params_active": shape.n_params_active,
        "active_without_input_embedding": shape.non_embedding_params_active,
    }
    assert {name: found[name] for name in row if name in found} == {name: row[name] for name in row if name in found}


def test_a_field_that_is_missing_is_taken_as_the_class_takes_it_and_named():
    found = from_config({"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18})
    assert found.shape.tied
    assert found.shape.head_dim == 256
    assert "vocab_size = 256000" in found.assumed
    assert not any("hidden_size" in text for text in found.assumed)


def test_other_names_of_a_field_mean_the_same():
    plain = {"model_type": "gpt2", "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4}
    older = {"model_type": "gpt2", "n_embd": 64, "n_layer": 3, "n_head": 4}
    assert shape_of(plain) == shape_of(older)


def test_the_older_names_of_falcon_say_which_decoder_it_is():
    sizes = {"hidden_size": 8192, "n_layer": 60, "n_head": 128, "vocab_size": 65024}
    shape = shape_of({"model_type": "RefinedWeb", "n_head_kv": 8, **sizes})
    assert (shape.n_kv_heads, shape.norms_per_layer) == (8, 2)
    assert shape_of({"model_type": "RefinedWebModel", **sizes}).n_kv_heads == 1


def test_a_second_name_leads_to_a_family():
    for name in SAME_AS:
        assert shape_of({"model_type": name}).n_params > 0


def test_a_class_stands_in_for_a_missing_type():
    assert shape_of({"architectures": ["GPT2LMHeadModel"]}).n_params == 124_439_808


# Windows.


@pytest.mark.parametrize(
    ("config", "windows"),
    [
        ({"model_type": "mistral"}, (4096,)),
        ({"model_type": "mistral", "sliding_window": None}, (None,)),
        ({"model_type": "gemma2"}, (4096, None)),
        ({"model_type": "gemma3_text", "sliding_window": 512, "num_hidden_layers": 12}, (512,) * 5 + (None,)),
        ({"model_type": "gemma3_text", "num_hidden_layers": 6, "sliding_window_pattern": 3}, (4096, 4096, None)),
        ({"model_type": "cohere2", "num_hidden_layers": 8}, (4096,) * 3 + (None,)),
        ({"model_type": "gpt_oss"}, (128, None)),
        ({"model_type": "llama4_text"}, (8192,) * 3 + (None,)),
        ({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}, (None,)),
        (
            {"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 2, "num_hidden_layers": 4},
            (None, None, 4096, 4096),
        ),
        (
            {"model_type": "qwen3", "num_hidden_layers": 3, "use_sliding_window": True, "sliding_window": 9}
            | {"layer_types": ["full_attention", "sliding_attention", "full_attention"]},
            (None, 9),
        ),
    ],
    ids=str,
)
def test_each_layer_looks_as_far_back_as_its_class_lets_it(config, windows):
    assert shape_of(config).windows == windows


def test_experts_are_in_the_layers_that_the_class_gives_them():
    maverick = {"model_type": "llama4_text", "interleave_moe_layer_step": 2, "num_hidden_layers": 4}
    assert [shape_of(maverick).has_experts(i) for i in range(4)] == [False, True, False, True]
    named = {"model_type": "llama4_text", "moe_layers": [0, 3], "num_hidden_layers": 4}
    assert [shape_of(named).has_experts(i) for i in range(4)] == [True, False, False, True]


# What is left out is named.


def test_of_several_towers_the_text_is_counted_and_the_rest_named():
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}
    whole = {"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 1152}}
    found = from_config(whole)
    assert found.shape.n_params == shape_of(text).n_params
    assert "Not counted: vision_config" in " ".join(found.notes)


def test_a_second_tower_beside_the_text_is_named_too():
    flat = {"model_type": "qwen2_vl", "hidden_size": 1536, "num_attention_heads": 12, "num_key_value_heads": 2}
    found = from_config({**flat, "vision_config": {"depth": 32}})
    assert "Not counted: vision_config" in " ".join(found.notes)


def test_a_head_tied_outside_the_text_is_tied():
    found = from_config({"model_type": "llava", "tie_word_embeddings": True, "text_config": {"model_type": "llama"}})
    assert found.shape.tied


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"n_streams": 4}, "Not read, and unknown to LlamaForCausalLM: n_streams = 4"),
        ({"use_qkv_norm": True}, "use_qkv_norm = true"),
        ({"moe_layer_freq": 2}, "moe_layer_freq = 2"),
        ({"text_config": "none"}, "text_config = 'none'"),
        ({"model_type": "gpt_neox", "head_dim": 64}, "head_dim = 64 is not read: GPTNeoXForCausalLM takes 96"),
        ({"model_type": "bloom", "num_key_value_heads": 2}, "num_key_value_heads = 2 is not read"),
        ({"architectures": ["LlamaForSequenceClassification"]}, "architectures names 'LlamaForSequenceClassification'"),
    ],
)
def test_a_field_that_nobody_knows_is_named(more, said):
    assert said in " ".join(from_config({"model_type": "llama"} | more).notes)


def test_fields_that_decide_nothing_are_passed_over_in_silence():
    quiet = {"rope_theta": 5e5, "torch_dtype": "bfloat16", "rms_norm_eps": 1e-5, "bos_token_id": 1, "pretraining_tp": 1}
    assert from_config({"model_type": "llama", **quiet}).notes == ()
    assert not INERT & {"hidden_size", "intermediate_size", "vocab_size", "head_dim", "num_experts"}


REAL = (
    # Fields that released files of these families have beside those that decide a size.
    {"model_type": "gpt_oss", "experts_per_token": 4, "initial_context_length": 4096, "swiglu_limit": 7.0},
    {"model_type": "cohere2", "order_of_interleaved_layers": "local_attn_first", "use_parallel_block": True}
    | {"head_dim": 128, "logit_scale": 0.25, "rotary_pct": 1.0, "position_embedding_type": "rope_gptj"},
    {"model_type": "deepseek_v2", "num_experts_per_tok": 6, "aux_loss_alpha": 0.001, "moe_layer_freq": 1, "ep_size": 1}
    | {"scoring_func": "softmax", "seq_aux": True, "topk_method": "greedy", "num_key_value_heads": 32},
    {
        "model_type": "bloom",
        "bias_dropout_fusion": True,
        "masked_softmax_fusion": True,
        "n_embed": 64,
        "seq_length": 2048,
    },
    {"model_type": "gpt_neox", "rotary_pct": 0.25, "rotary_emb_base": 10000, "use_parallel_residual": True},
    {"model_type": "llama4_text", "no_rope_layers": [], "for_llm_compressor": False, "attn_temperature_tuning": 4},
)


@pytest.mark.parametrize("config", REAL, ids=[config["model_type"] for config in REAL])
def test_a_released_file_is_read_without_a_word_about_unknown_fields(config):
    assert not any(note.startswith(("Not read", "head_dim", "num_key")) for note in from_config(config).notes)


def test_what_predicts_further_and_what_balances_is_named():
    said = " ".join(from_config({"model_type": "deepseek_v3"}).notes)
    assert "1 layer of multi-token prediction, 11,610,067,968 parameters" in said
    assert "14,848 numbers more" in said


# What is refused.


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "model_type: missing"),
        ({"model_type": None}, "model_type: missing"),
        ({"model_type": 5}, r"model_type = 5 \(int\): text"),
        ({"model_type": "lama"}, "model_type = 'lama': one of llama, .*did you mean 'llama'"),
        ({"model_type": "t5"}, "model_type = 't5': an encoder and a decoder, not a decoder-only language model"),
        ({"model_type": "foo", "is_encoder_decoder": True}, "is_encoder_decoder = True"),
        ({"model_type": "jamba"}, "model_type = 'jamba': a hybrid of attention and recurrent layers"),
        ({"model_type": "granitemoehybrid"}, "layer_types: missing, which makes every layer one of Mamba"),
        (
            {"model_type": "granitemoehybrid", "num_hidden_layers": 2, "layer_types": ["attention", "mamba"]},
            r"layer_types\[1\] = 'mamba': a layer that keeps a state",
        ),
        ({"model_type": "llama", "hidden_size": "4096"}, r"hidden_size = '4096' \(str\): a whole number"),
        ({"model_type": "llama", "hidden_size": True}, r"hidden_size = True \(bool\)"),
        ({"model_type": "llama", "hidden_size": None}, "hidden_size: missing or null"),
        ({"model_type": "llama", "hidden_size": 4096.0}, r"hidden_size = 4096.0 \(float\)"),
        ({"model_type": "llama", "hidden_size": -1}, "hidden_size = -1: a whole number, 1 or more"),
        ({"model_type": "llama", "vocab_size": 10**400}, "vocab_size = an integer of 1329 bits"),
        ({"model_type": "llama", "num_hidden_layers": 10**9}, "num_hidden_layers = 1000000000: at most 10,000"),
        ({"model_type": "llama", "tie_word_embeddings": "yes"}, r"tie_word_embeddings = 'yes' \(str\): True or False"),
        (
            {"model_type": "llama", "num_key_value_heads": 5},
            "num_key_value_heads = 5: a divisor of num_attention_heads",
        ),
        ({"model_type": "llama", "num_attention_heads": 33}, "head_dim = None: hidden_size / num_attention_heads"),
        ({"model_type": "gpt2", "n_embd": 64, "hidden_size": 32}, "n_embd = 64: beside hidden_size = 32"),
        ({"model_type": "gpt2", "n_inner": "x"}, r"n_inner = 'x' \(str\)"),
        ({"model_type": "mixtral", "num_experts_per_tok": 9}, "num_experts_per_tok = 9: at most num_local_experts = 8"),
        (
            {"model_type": "gemma2", "layer_types": ["full_attention"]},
            "layer_types = 1 entries: one for each of the 26",
        ),
        ({"model_type": "gemma2", "layer_types": "full"}, "layer_types = 'full': a list of words"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": [-1]}, r"mlp_only_layers\[0\] = -1"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": 3}, "mlp_only_layers = 3: a list of whole numbers"),
        ({"model_type": "deepseek_v2"}, "num_experts_per_tok: missing or null"),
        ({"model_type": "gpt2", "add_cross_attention": True}, "add_cross_attention = True"),
    ],
    ids=str,
)
def test_what_cannot_be_counted_is_refused_by_file_field_and_value(config, said):
    with pytest.raises(ValueError, match=f"^config.json: {said}"):
        from_config(config, "config.json")


def test_every_hybrid_and_every_encoder_is_refused_by_its_name():
    for name in (*RECURRENT, *NO_DECODERS):
        with pytest.raises(ValueError, match=rf"^f: model_type = '{name}': an? "):
            from_config({"model_type": name}, "f")


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not JSON: the file is empty"),
        (b"  \n", "not JSON: the file is empty"),
        (b"{", "not JSON: Expecting property name"),
        (b"\x80\x81", "not JSON: no text in UTF-8"),
        (b"PK\x03\x04\x00", "not JSON: "),
        (b"[1, 2]", r"\[1, 2\]: an object with fields"),
        (b'"llama"', "'llama': an object"),
        (b"NaN", "nan: an object with fields"),
        (b'{"model_type": "llama", "hidden_size": Infinity}', "hidden_size = inf: a finite number"),
        (b'{"model_type": "llama", "hidden_size": 1e999}', "hidden_size = inf: a finite number"),
        (b'{"model_type": "llama", "rope_scaling": {"factor": NaN}}', "factor = nan: a finite number"),
        (b'{"model_type": "llama", "hidden_size": 1, "hidden_size": 2}', "hidden_size = 2: beside 1 in the same file"),
        (b'{"a": ' * 100_000, "not (JSON|a configuration): "),
        (b"[" * 200_000 + b"]" * 200_000, "not a configuration: nested too deep"),
        (b'{"model_type": "llama", "vocab_size": ' + b"9" * 5000 + b"}", ""),
        (b" " * (LARGEST_FILE + 1), "more than 10,000,000 bytes"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_file_that_is_no_configuration_is_refused_in_one_line(raw, said):
    with pytest.raises(ValueError, match=f"^f.json: {said}") as refused:
        parse_config(raw, "f.json")
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 1200


def test_a_byte_order_mark_is_no_part_of_the_file():
    assert parse_config(b'\xef\xbb\xbf{"model_type": "gpt2"}').shape.n_params == 124_439_808


def test_a_file_is_read_and_called_by_its_folder(tmp_path):
    (tmp_path / "tiny").mkdir()
    path = tmp_path / "tiny" / "config.json"
    path.write_text('{"model_type": "gpt2"}', encoding="utf-8")
    assert read_config(str(path)).shape.name == "tiny"
    for wrong in (str(tmp_path), str(tmp_path / "none.json"), "a\0b"):
        with pytest.raises(ValueError, match="cannot be read: "):
            read_config(wrong)


@pytest.mark.parametrize("bad", [None, 5, "text", [1]])
def test_a_configuration_is_a_mapping_and_a_path_is_text(bad):
    with pytest.raises(TypeError, match=r"^config = "):
        from_config(bad)
    with pytest.raises(TypeError, match=r"^raw = "):
        parse_config({} if isinstance(bad, str) else bad)
    if not isinstance(bad, str):
        with pytest.raises(TypeError, match=r"^path = "):
            read_config(bad)


LETTERS = st.characters(exclude_categories=["Cs"])  # what UTF-8 can write, found ten times as fast as by its codec
plain = st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | st.text(LETTERS, max_size=3)
names = st.sampled_from(sorted({name for family in FAMILIES.values() for name in family.defaults}))


@given(st.sampled_from(list(FAMILIES)), st.dictionaries(names, plain | st.lists(st.integers(0, 3)), max_size=6))
def test_whatever_a_file_says_it_is_counted_or_refused(family, fields):
    try:
        found = from_config({"model_type": family, **fields}, "f.json").shape
    except ValueError as refused:
        found, said = None, str(refused)
    assert math.isfinite(found.n_params_active) if found else said.startswith("f.json: ")


anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(LETTERS, max_size=3), inner, max_size=3)
)
places = st.sampled_from(
    ["model_type", "architectures", "text_config", "_name_or_path", "vision_config", "layer_types"]
)


@given(st.dictionaries(places | names, anything, max_size=5), st.sampled_from(list(FAMILIES)))
def test_no_json_ends_in_anything_but_an_answer_or_a_refusal(config, family):
    for whole in (config, {"model_type": family} | config, {"text_config": {"model_type": family} | config}):
        try:
            said = from_config(whole, "f.json").code
        except ValueError as refused:
            said = str(refused)
        assert said.startswith("f.json: ") or said in {each.code for each in FAMILIES.values()}
