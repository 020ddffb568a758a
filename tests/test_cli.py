"""The command `handbook` as a person and a script use it: answers on stdout, refusals in one line on stderr."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.cli import main
from lib.whatif import catalogue, text

HANDBOOK = [sys.executable, "-c", "from lib.cli import main; main(prog_name='handbook')"]


def run(*words):
    return CliRunner().invoke(main, list(words))


def answered(*words):
    done = run(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def refused(*words):
    """The one line on stderr of a refused command."""
    done = run(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("handbook: ")
    return done.stderr


# The group


def test_the_version_is_the_packages():
    assert answered("--version") == f"handbook {version('training-run-handbook')}\n"


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_without_a_command_it_says_what_it_can_do(words):
    assert re.search("what-if +Answer a planning question", answered(*words))


@pytest.mark.parametrize("name", ["what-if", "what_if", "WhatIf", "What-If"])
def test_command_names_are_taken_whatever_their_case_and_hyphens(name):
    assert answered(name, "--json") == answered("what-if", "--json")


def test_unknown_commands_and_options_are_refused_with_the_nearest():
    assert "'what-ifs' is no command: one of what-if, mfu, " in refused("what-ifs")
    assert "did you mean 'what-if'" in refused("what-ifs")
    assert "'help' is no command: one of what-if, mfu, " in refused("help")
    assert "'--vers'" in refused("--vers")


@pytest.mark.parametrize("before", [["{}"], ["mfu", "--{}"], ["mfu", "--model={}"], ["what-if", "{}"]])
def test_ten_thousand_letters_are_not_printed_back(before):
    assert len(refused(*(word.format("y" * 10_000) for word in before))) < 600


# handbook what-if


def test_the_list_names_every_what_if_with_its_inputs():
    listed = answered("what-if")
    for what_if in catalogue.WHAT_IFS.values():
        assert what_if.name in listed
        assert all(control.name in listed for control in what_if.controls)


def test_the_list_as_json_has_exactly_name_title_and_inputs():
    listed = json.loads(answered("what-if", "--json"))
    assert [entry["name"] for entry in listed] == list(catalogue.WHAT_IFS)
    for entry in listed:
        assert list(entry) == ["name", "title", "inputs"]
        for given_input in entry["inputs"]:
            assert list(given_input) == ["name", "label", "unit", "start", "options", "more"]
            assert given_input["start"] in (given_input["options"] or [given_input["start"]])


@pytest.mark.parametrize("name", catalogue.WHAT_IFS)
def test_text_and_json_are_the_answer_of_the_library(name):
    answer = catalogue.solve(name)
    assert answered("what-if", name) == text.answer_text(answer) + "\n"
    assert json.loads(answered("what-if", name, "--json")) == json.loads(json.dumps(answer.to_dict()))


@pytest.mark.parametrize("name", catalogue.WHAT_IFS)
def test_explain_adds_to_the_answer_and_keeps_to_eighty_columns(name):
    short, long = answered("what-if", name), answered("what-if", name, "--explain")
    assert set(short.splitlines()) <= set(long.splitlines())
    assert "formula  " in long
    assert "source   " in long
    assert max(map(len, long.splitlines())) <= 80


@pytest.mark.parametrize("name", catalogue.WHAT_IFS)
def test_help_for_a_name_shows_its_inputs_and_their_words(name):
    shown = answered("what-if", name, "--help")
    for control in catalogue.WHAT_IFS[name].controls:
        assert f"  {control.name}=" in shown
        assert all(control.write(option) in re.sub(r"\s+", " ", shown) for option in getattr(control, "options", ()))


def test_help_without_a_name_explains_the_command():
    assert "KEY=VALUE" in answered("what-if", "--help")


def test_settings_are_read_as_people_write_them():
    many = answered("what-if", "Allocation", "COMPUTE=1e24", "n-params=70B", "law=hoffmann 2022", "--json")
    assert json.loads(many)["inputs"] == {"compute": 1e24, "law": "Hoffmann 2022", "n_params": 70e9}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "what_if = 'nosuch': one of "),
        (["alocation"], "did you mean 'allocation'?"),
        (["allocation", "budget=1e22"], "did you mean 'compute'?"),
        (["allocation", "compute"], "'compute': settings are written KEY=VALUE"),
        (["allocation", "=3"], "settings are written KEY=VALUE"),
        (["allocation", "compute="], "compute = ''"),
        (["allocation", "compute=0"], "compute = 0"),
        (["allocation", "compute=many"], "compute = 'many': a number"),
        (["allocation", "compute=1e22", "compute=1e23"], "compute: given twice"),
        (["allocation", "compute=1e22 FLOP/s"], "the unit 'FLOP/s' is not one of K, M, B, T, P, E, FLOP"),
        (["allocation", "compute=989T"], "compute = 9.89e14: at least 1e16 FLOP"),
        (["allocation", "n_params=1e300"], "n_params = 1e300: at most"),
        (["days-and-mfu", "n_gpus=1.000"], "n_gpus = '1.000': a whole number; a thousand is written 1,000"),
        (["days-and-mfu", "n_tokens=15T GPUs"], "the unit 'T GPUs' is not one of"),
        (
            ["worked-example", "n_gpus=1e7", "days=1200"],
            "n_gpus = 10000000: too far from the other inputs, it leads to",
        ),
        (["allocation", "--n-params", "3"], "Settings are written without dashes: n_params=VALUE"),
        (["allocation", "law=nobody\nat all"], "law = 'nobody\\nat all': one of "),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(words, said):
    assert said in refused("what-if", *words)


@settings(deadline=None)  # a busy machine is no finding
@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=4))
def test_no_words_end_in_a_traceback(words):
    done = run("what-if", "allocation", *words)
    assert done.exit_code in (0, 2)
    assert len(done.stderr.splitlines()) == (done.exit_code == 2)


def test_a_what_if_called_as_a_command_is_shown_the_way():
    assert "handbook what-if days-and-mfu mfu=0.5" in refused("Days_and_MFU", "mfu=0.5")


# handbook mfu


def rows(*words):
    """The rows of an answer as {label: value}."""
    return {row["label"]: row["value"] for row in json.loads(answered("mfu", *words, "--json"))["rows"]}


@pytest.mark.parametrize(
    ("speed", "convention", "printed"),
    [
        ("13812", "Megatron-LM", 800),  # NVIDIA/Megatron-LM, examples/llama/README.md
        ("14451", "Megatron-Bridge", 744),  # NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md
    ],
)
def test_a_vendors_speed_is_called_what_its_table_calls_it(speed, convention, printed):
    told = rows("--tokens-per-second", speed, "--model", "llama-3-8b", "--seq-len", "8192", "--accelerator", "h100")
    assert round(told[convention]) == printed


def test_the_figure_may_come_in_any_unit_and_gives_the_same_speed():
    speed = rows("--tokens-per-second", "13812")["one GPU"]
    share = rows("--tokens-per-second", "13812")["MFU, PaLM"]
    assert rows("--mfu", repr(share), "--convention", "palm")["one GPU"] == pytest.approx(speed, rel=1e-12)
    assert rows("--mfu", f"{100 * share!r}%", "--convention", "PaLM")["one GPU"] == pytest.approx(speed, rel=1e-12)
    assert rows("--tokens-per-second", "110496", "--n-gpus", "8")["one GPU"] == speed


@pytest.mark.parametrize("words", ["--tflops 800TFLOP/s", "--tflops=800", "--tflops 0.8K"])
def test_a_figure_may_bring_its_unit(words):
    assert answered("mfu", *words.split()) == answered("mfu", "--tflops", "800")


def test_a_figure_that_looks_like_a_share_is_said_to():
    assert "if the figure is a share of the peak, its unit is MFU or HFU" in re.sub(
        r"\s+", " ", answered("mfu", "--tflops", "0.45")
    )


def test_options_are_taken_with_underscores():
    assert answered("mfu", "--tflops=800", "--seq_len", "4k") == answered("mfu", "--tflops=800", "--seq-len", "4096")


def test_the_parts_of_a_count_are_as_good_as_its_name():
    parts = ("--params", "without-input-table", "--attention", "Causal")
    assert answered("mfu", "--tflops", "744", *parts) == answered(
        "mfu", "--tflops", "744", "--convention", "megatron_bridge"
    )


def test_a_count_that_nobody_has_named_stands_beside_the_others():
    told = rows("--tflops", "500", "--params", "total", "--attention", "causal")
    assert told["your count"] == pytest.approx(500, rel=1e-12)
    assert told["6N"] < 500 < told["PaLM"]


def test_a_figure_without_its_count_is_answered_with_a_warning():
    warning = "Nobody said what this figure counts"
    assert warning in answered("mfu", "--mfu", "0.4")
    assert warning not in answered("mfu", "--mfu", "0.4", "--convention", "6N")
    assert warning not in answered("mfu", "--tokens-per-second", "13812")


def test_the_answer_is_the_what_ifs_own():
    words = ["--tflops", "744", "--convention", "Megatron-Bridge", "--dtype", "fp8", "--n-gpus", "8"]
    inputs = {"figure": 744, "unit": "TFLOP/s per GPU", "convention": "Megatron-Bridge"}
    assert json.loads(answered("mfu", *words, "--json")) == json.loads(
        text.answer_json(catalogue.solve("mfu-conventions", inputs))
    )


def test_mfu_explains_itself_and_shows_its_options():
    said = answered("mfu", "--mfu", "0.4", "--explain")
    assert "--seq-len 8192" in said
    assert "source   " in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "exactly one of --tokens-per-second, --tflops, --mfu, --hfu"),
        ("--mfu 0.4 --tflops 400", "2 figures given"),
        ("--mfu 45", "mfu = 45: a fraction above 0, at most 1; 45% is written 0.45"),
        ("--tflops 0", "tflops = 0"),
        ("--tokens-per-second fast", "tokens_per_second = 'fast': a number"),
        ("--mfu 0.4 --attention casual", "did you mean 'causal'?"),
        ("--mfu 0.4 --convention palm --attention none", "--convention beside --attention"),
        ("--hfu 0.4", "say which with --convention or --recompute"),
        ("--mfu 0.4 --accelerator v100", "has no bf16"),
        ("--mfu 0.4 --gpus 8", "Did you mean '--n-gpus'?"),
        ("--mfu 0.4 --verbose", "All are in: handbook mfu --help"),
        ("13812", "unexpected extra argument (13812): inputs are written as options here"),
        ("mfu=0.4", "unexpected extra argument (mfu=0.4): inputs are written as options here"),
        ("--mfu 0.4 --mfu 0.5", "--mfu: given twice"),
        ("--mfu 0.4 --n-gpus 8 --n_gpus=16", "--n-gpus: given twice"),
        ("--tflops 45%", "tflops = '45%': the unit '%' is not one of K, M, B, T, P, E, TFLOP/s"),
        ("--tflops 800T", "tflops = 8e14: at most 1e10"),
        ("--tflops 800tokens/s", "tflops = '800tokens/s': the unit 'tokens/s' is not one of"),
        ("--tokens-per-second 800TFLOP/s", "tokens_per_second = '800TFLOP/s': the unit 'TFLOP/s' is not one of"),
        ("--tokens-per-second 1e300", "tokens_per_second = 1e300: at most 1e10"),
        ("--mfu 0.4 --convention=", "convention = '': one of 6N"),
        ("--hfu 0.5 --convention palm", "--hfu: MFU, for the convention 'PaLM' counts no recomputation"),
    ],
)
def test_mfu_refuses_in_one_line(words, said):
    assert said in refused("mfu", *words.split())


# A command among others


def test_bytes_that_are_no_text_are_refused():
    done = subprocess.run([*HANDBOOK, "what-if", "allocation", b"compute=\xff"], capture_output=True, timeout=60)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_a_terminal_without_the_characters_still_gets_the_answer():
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    words = [*HANDBOOK, "what-if", "allocation", "--explain"]
    done = subprocess.run(words, capture_output=True, timeout=60, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_stops_early_is_no_error():
    six = ["sh", "-c", 'for i in 1 2 3 4 5 6; do "$@" || exit; done | head -n 1', "sh", *HANDBOOK]
    done = subprocess.run([*six, "what-if", "allocation", "--json"], capture_output=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"{\n", b"")


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["what-if", "--json"], ["what-if", "allocation"]])
def test_a_full_disk_is_told_in_one_line(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*HANDBOOK, *words], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"handbook: the answer: No space left on device\n")


def test_ctrl_c_ends_it_without_a_traceback():
    slow = (
        "import time, lib.whatif.catalogue as c; from lib.cli import main\n"
        "c.solve = lambda *_: (print('started', flush=True), time.sleep(30))\n"
        "main(['what-if', 'allocation'])"
    )
    process = subprocess.Popen([sys.executable, "-c", slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.strip() == ""


def test_the_command_loads_no_array_or_display_library():
    code = (
        "import sys\nfrom lib.cli import main\ntry: main(['what-if', 'allocation'])\nfinally: print(set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    loaded = set(re.findall(r"'(\w+)'", done.stdout))
    assert "click" in loaded
    assert not {"numpy", "scipy", "matplotlib", "ipywidgets"} & loaded
