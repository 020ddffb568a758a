"""The command `handbook model`: exact counts of a file, of standard input, of a name; refusals in one line."""

import json
import re

import pytest
from click.testing import CliRunner

from lib.architecture import MODELS, model
from lib.cli import main
from lib.whatif.model_card import model_view

MIXTRAL = {"model_type": "mixtral", "sliding_window": None, "_name_or_path": "mixtral"}


def run(*words, text=None):
    return CliRunner().invoke(main, ["model", *words], input=text)


def answered(*words, text=None):
    done = run(*words, text=text)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def refused(*words, text=None):
    """The one line on stderr of a refused command."""
    done = run(*words, text=text)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("handbook: ")
    return done.stderr


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(MIXTRAL), encoding="utf-8")
    return str(path)


def test_a_file_is_counted_to_the_parameter(config):
    found = json.loads(answered(config, "--json"))
    assert (found["n_params"], found["n_params_active"]) == (46_702_792_704, 12_879_925_248)
    assert sum(found["components"].values()) == found["n_params"]
    assert found["n_params_active_without_input_table"] == 12_748_853_248


def test_standard_input_and_a_name_are_counted_alike(config):
    from_file = json.loads(answered(config, "--json"))
    assert json.loads(answered("-", "--json", text=json.dumps(MIXTRAL)))["components"] == from_file["components"]
    assert json.loads(answered("LLAMA_3 8b", "--json"))["n_params"] == 8_030_261_248


def test_a_released_model_may_be_called_as_the_hub_calls_it():
    assert json.loads(answered("mistralai/Mixtral-8x7B-v0.1", "--json"))["n_params"] == 46_702_792_704


def test_the_text_shows_exact_counts(config):
    said = answered(config)
    assert "46,702,792,704 parameters, 12.88B of them active" in " ".join(said.split())
    assert "routed experts" in said
    assert "45,097,156,608" in said


def test_every_number_unfolds(config):
    said = " ".join(answered(config, "--explain").split())
    assert "32 x 8 x 3 x 4,096 x 14,336" in said
    assert "46,702,792,704 - 32 x (8 - 2) x 176,160,768" in said
    assert "as MixtralForCausalLM allocates them" in said


@pytest.mark.parametrize(("context", "tokens"), [("32k", 32_768), ("1", 1), ("8,192", 8192), ("1000 tokens", 1000)])
def test_the_cache_is_that_of_the_context(context, tokens):
    found = json.loads(answered("gemma-3-1b", "--context", context, "--json"))
    assert found["context"] == tokens
    assert found["kv_cache_bytes"] == (22 * min(tokens, 512) + 4 * tokens) * 512 * 2
    assert found["kv_cache_bytes_per_token_at_start"] == 26 * 512 * 2
    assert found["kv_cache_bytes_per_token_at_context"] == (4 if tokens >= 512 else 26) * 512 * 2


def test_a_smaller_cache_type_halves_it():
    wide, narrow = (json.loads(answered("gpt-2", "--cache-dtype", kind, "--json")) for kind in ("BF16", "fp8"))
    assert wide["kv_cache_bytes"] == 2 * narrow["kv_cache_bytes"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lama-3-8b",), "model = 'lama-3-8b': .*did you mean 'Llama 3 8B'"),
        (("none.json",), "none.json: cannot be read: No such file"),
        ((".",), "cannot be read: Is a directory"),
        (("nobody/no-model",), "nobody/no-model: no such file; model = 'no-model': one of"),
        (("gpt-2", "--context", "0"), "context = 0: a whole number of tokens"),
        (("gpt-2", "--context", "1e30"), "context = 1e30: a whole number of tokens, from 1 to 9,007"),
        (("",), "model = '': one of"),
        (("gpt-2", "--context", "many"), "context = 'many': a number"),
        (("gpt-2", "--context", "1.5"), "context = 1.5: a whole number"),
        (("gpt-2", "--cache-dtype", "int3"), "cache_dtype = 'int3': one of fp32, bf16, fp8"),
        ((), "Missing argument"),
        (("x" * 5000,), "model = 'xxx"),
        (("a\0b",), "model = "),
        (("gpt-2", "extra"), "unexpected extra argument"),
    ],
    ids=str,
)
def test_what_cannot_be_answered_is_refused_in_one_line(words, said):
    assert re.search(said, refused(*words))


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"model_type": "bert"}'])
def test_standard_input_that_is_no_decoder_is_refused(text):
    assert "standard input: " in refused("-", text=text)


def test_every_known_model_has_a_card_whose_parts_sum_up():
    for name in MODELS:
        view = model_view(model(name), 4096)
        whole = "Parameters, each stored number once"
        counts = {row.label: int(row.value.replace(",", "")) for row in view.rows if row.group == whole}
        parts = sum(n for label, n in counts.items() if label != "all" and not label.startswith("beside"))
        assert parts == counts["all"] == model(name).n_params
        assert all(row.formula or row.convention for row in view.rows)
