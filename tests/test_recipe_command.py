"""The command `handbook recipe`: answers on stdout, refusals in one line that names the option."""

import json

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.recipe import Recipe, Setup, size_and_tokens
from lib.whatif.catalogue import RefusedError
from lib.whatif.recipe import asked


def run(*words):
    return CliRunner().invoke(main, ["recipe", *words])


def answered(*words):
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def numbers(*words):
    return {row["label"]: row["value"] for row in json.loads(answered(*words, "--json"))["rows"]}


def refused(*words):
    """The one line on stderr of a refused command."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("handbook: ")
    return done.stderr


def test_a_budget_gives_the_recipe_and_the_three_nearest_published_runs():
    said = " ".join(answered("--flops", "1e22").split())
    assert "a peak learning rate of 1.7e-4 (rules say 1.1e-4 to 5.5e-4), 2.097M tokens a step, 87,058 steps" in said
    assert "nearest Cerebras-GPT 6.7B: 1.2e-4" in said
    assert "third Pythia 12B: 1.2e-4" in said


def test_sizes_and_tokens_are_those_that_were_given():
    found = numbers("--params", "7B", "--tokens", "2T")
    assert found["parameters"] == pytest.approx(7e9)
    assert found["tokens"] == pytest.approx(2e12)
    assert numbers("--flops", "6e22", "--params", "10B")["tokens"] == pytest.approx(1e12)
    assert numbers("--flops", "6e22", "--tokens", "1T")["parameters"] == pytest.approx(1e10)
    assert numbers("--params", "10B")["tokens"] == pytest.approx(2e11)
    assert numbers("--tokens", "200B", "--tokens-per-param", "100")["parameters"] == pytest.approx(2e9)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--params", "1M"), "params = 1M: with 20 tokens a parameter 1.2e14 FLOP, at least 1e17 FLOP"),
        (("--params", "7B", "--tokens", "1e6"), "params = 7B, tokens = 1e6: 4.2e16 FLOP, at least 1e17 FLOP"),
        (("--tokens", "1000T"), "tokens = 1000T: with 20 tokens a parameter 3e29 FLOP, at most 1e28 FLOP"),
    ],
)
def test_what_leads_too_far_is_named_as_it_was_given(words, told):
    assert refused(*words) == f"handbook: {told}\n"


def test_the_machine_decides_how_the_batch_is_shared():
    setup = Setup(n_gpus=512, model_parallel=8, micro_batch=2, seq_len=8192)
    expected = Recipe(run=size_and_tokens(compute=1e23), setup=setup)
    words = ("--n-gpus", "512", "--model-parallel", "8", "--micro-batch", "2", "--seq-len", "8192")
    assert numbers("--flops", "1e23", *words)["global batch"] == expected.global_batch
    assert expected.global_batch % (64 * 2) == 0


@pytest.mark.parametrize("name", ["cosine", "linear", "wsd", "1-sqrt", "Warmup-Stable-Decay"])
def test_schedules_are_taken_by_short_names(name):
    assert numbers("--flops", "1e22", "--schedule", name)["steps"] == 87_058


def test_explain_shows_formulas_and_sources():
    said = answered("--flops", "1e22", "--explain")
    assert "formula  512 x 4,096" in said
    assert "source   Cerebras/modelzoo" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "0 of --flops, --params and --tokens given: one or two of them"),
        (("--flops", "1e22", "--params", "1B", "--tokens", "1T"), "3 of --flops, --params and --tokens given"),
        (("--params", "1B", "--tokens", "1T", "--tokens-per-param", "20"), "--tokens-per-param beside --params and"),
        (("--params", "big"), "params = 'big'"),
        (("--params", "7B", "--tokens", "0"), "tokens = 0"),
        (("--flops", "-1"), "flops = -1"),
        (("--flops", "1e22", "--model-parallel", "3"), "model_parallel = 3: a divisor of n_gpus = 64; nearest 2 or 4"),
        (("--flops", "1e22", "--schedule", "cosin"), "did you mean 'cosine'"),
        (("--flop", "1e22", "--explan"), "No such option"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(words, message):
    assert message in refused(*words)


def test_help_says_what_it_takes():
    said = answered("--help")
    assert "--flops" in said
    assert "handbook recipe --params 7B --tokens 2T" in said


def test_one_figure_leaves_the_ratio_at_twenty():
    assert asked({"flops": "1e22", "params": None, "tokens": None}) == {"compute": 1e22, "tokens_per_param": 20.0}
    with pytest.raises(RefusedError, match=r"^0 of --flops"):
        asked({"flops": None, "params": None, "tokens": None})
