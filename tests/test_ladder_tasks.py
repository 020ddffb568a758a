"""Rungs 3 and 5 to 7 as text: every threshold has something to run, and the commands of the handbook are its own."""

import re

import pytest
from click.testing import CliRunner

from lib.cli import main
from lib.description import Expectations, parse
from lib.description.limits import limit
from lib.hardware import accelerator
from lib.ladder import rungs, tasks

TEXT = 'tokens = "1T"\n[model]\nname = "llama-3-8b"\n[cluster]\naccelerator = "{}"\nn_gpus = 64'


def run_on(chip):
    return parse(TEXT.format(chip))


@pytest.mark.parametrize("number", [3, 5, 6, 7])
def test_every_threshold_of_a_rung_that_no_pilot_measures_has_something_to_run(number):
    run = run_on("h100")
    asked = {one.name for one in rungs(run)[number - 1].thresholds if number > 4 or one.on_target}
    assert {threshold.name for task in tasks(number, Expectations(run=run)) for threshold in task.thresholds} == asked


def test_a_pilot_measures_all_else_of_the_first_four_rungs():
    assert [rung.number for rung in rungs(run_on("h100"))[:4] for one in rung.thresholds if one.on_target] == [3] * 4


@pytest.mark.parametrize("number", [3, 5, 6, 7])
def test_the_handbooks_own_commands_have_the_options_that_are_written(number):
    words = {name: {o for p in command.params for o in p.opts} for name, command in main.commands.items()}
    lines = [line for task in tasks(number, Expectations(run=run_on("h100"))) for line in task.commands]
    ours = [re.sub(r" +\(.*\)$", "", line).split() for line in lines if line.startswith("handbook")]
    assert ours
    for _, name, *rest in ours:
        assert {word for word in rest if word.startswith("-")} <= words[name]


def bus_threshold(chip):
    found = {threshold.name: threshold for threshold in rungs(run_on(chip))[4].thresholds}
    return found.get("bus_gb_per_second")


@pytest.mark.parametrize(("chip", "accepted"), [("a100", 228.0), ("mi300x", 314.0), ("h100", 460.0)])
def test_a_node_that_a_cloud_accepts_has_the_bus_bandwidth(chip, accepted):
    """Azure/azurehpc-health-checks, conf/: check_nccl_allreduce, check_rccl_allreduce, GB/s; half its links fail."""
    assert bus_threshold(chip).margin(accepted) >= 0 > bus_threshold(chip).margin(accepted / 2)


def test_the_bus_bandwidth_follows_from_the_links_of_the_gpu():
    """A100: NVLink 600 GB/s, both directions (data sheet), so 300; seven tenths of it."""
    assert accelerator("a100").link_bytes_per_second == 300e9
    assert bus_threshold("a100").at_least == pytest.approx(210.0)
    assert bus_threshold("h100").text == "at least 315 GB/s"


@pytest.mark.parametrize("chip", ["a10g", "l4", "h100 pcie", "h100 nvl", "tpu v5p", "trainium2"])
def test_where_links_do_not_join_a_node_or_nccl_is_not_there_no_bus_bandwidth_is_asked_for(chip):
    assert bus_threshold(chip) is None


def test_the_accelerators_whose_bus_is_tried_are_known_and_have_links():
    for name in limit("bus bandwidth", "accelerators").value.split(", "):
        assert accelerator(name).name == name
        assert accelerator(name).link_bytes_per_second


def test_amds_gpus_are_tried_by_amds_tests():
    assert "rccl-tests/build/all_reduce_perf" in tasks(5, Expectations(run=run_on("mi300x")))[0].commands[0]


@pytest.mark.parametrize("chip", ["h100", "h100 pcie", "mi300x", "tpu v5p", "trainium2"])
def test_what_is_to_be_run_exists_for_the_accelerator(chip):
    """nvidia-smi and nccl-tests are NVIDIA's, rccl-tests AMD's; only what the rung asks for is put in by hand."""
    expected = Expectations(run=run_on(chip))
    vendor = expected.run.cluster.accelerator.vendor
    for number in (5, 6, 7):
        asked = {threshold.name for threshold in rungs(expected.run)[number - 1].thresholds}
        lines = "\n".join(line for task in tasks(number, expected) for line in task.commands)
        assert ("nvidia-smi" not in lines and "nccl-tests" not in lines) or vendor == "NVIDIA"
        assert "rccl-tests" not in lines or vendor == "AMD"
        assert set(re.findall(r"--measured (\w+)=", lines)) <= asked


def test_the_command_prints_what_can_be_copied(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(TEXT.format("h100"))
    said = CliRunner().invoke(main, ["ladder", str(path), "--commands", "5"])
    assert said.exit_code == 0
    assert "   $ mpirun -np 8 nccl-tests/build/all_reduce_perf -b 1G -e 8G -f 2 -g 1\n" in said.stdout
    assert "{" not in said.stdout
    refused = CliRunner().invoke(main, ["ladder", str(path), "--commands", "4"])
    assert (refused.exit_code, "rungs 1 to 4 are run by: handbook pilot" in refused.stderr) == (2, True)
    plain = CliRunner().invoke(main, ["ladder", str(path), "--commands", "7", "--json"])
    assert '"name": "final_loss"' in plain.stdout
