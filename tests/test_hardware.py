"""Accelerators: the figures of their sheets, the traps in them, and what is refused."""

import datetime

import pytest

from lib import check, facts, hardware
from lib.hardware import ACCELERATORS, DTYPES, Accelerator, Cluster, accelerator, tpu_slice
from lib.whatif import controls

# At least one figure of every accelerator, as its own document prints it (source in the comment).
PRINTED = [
    ("V100 SXM 16GB", "fp16", 125e12),  # V100 data sheet 1165301 r5: tensor performance, SXM2
    ("V100 SXM 32GB", "fp16", 125e12),
    ("T4", "fp16", 65e12),  # T4 data sheet: mixed precision
    ("L4", "bf16", 121e12),  # Ada white paper v2.02, Appendix D, Table 5: 121/242, dense/sparse
    ("A10G", "bf16", 70e12),  # A10G data sheet for AWS: 70 | 140 with sparsity; the A10's 125 is another card
    ("RTX 3090", "bf16", 71e12),  # GA102 white paper, Appendix A: 71/142 with FP32 accumulate
    ("RTX 4090", "bf16", 165.2e12),  # Ada white paper, Appendix A, Table 2: 165.2/330.4 with FP32 accumulate
    ("L40S", "bf16", 362.05e12),  # L40S product page: 362.05 | 733 with sparsity
    ("A100 40GB SXM", "bf16", 312e12),  # A100 data sheet: 312 | 624 with sparsity
    ("A100 80GB SXM", "bf16", 312e12),
    ("A100 40GB PCIe", "bf16", 312e12),
    ("A100 80GB PCIe", "bf16", 312e12),
    ("H20", "bf16", 148e12),  # press tables since Nov 2023; no NVIDIA sheet
    ("H100 SXM", "bf16", 989.4e12),  # H100 white paper v1.04, Table 1: 989.4 | 1978.9 with sparsity
    ("H100 PCIe", "bf16", 756e12),  # H100 white paper v1.04, Table 1: 756 | 1513 with sparsity
    ("H100 NVL", "bf16", 1671e12 / 2),  # H100 data sheet: 1,671 with sparsity
    ("H200", "bf16", 989.4e12),  # as the H100 SXM
    ("H800", "bf16", 989.4e12),  # as the H100 SXM
    ("B200", "bf16", 36e15 / 2 / 8),  # HGX page: 36 PFLOPS with sparsity for 8 GPUs
    ("GB200", "bf16", 10e15 / 2 / 2),  # GB200 NVL72 page: 10 PFLOPS with sparsity for 2 GPUs
    ("B300", "bf16", 4.5e15 / 2),  # Blackwell Ultra data sheet: 4.5 PFLOPS with sparsity
    ("GB300", "bf16", 5e15 / 2),  # Blackwell Ultra data sheet: 5 PFLOPS with sparsity
    ("B200", "fp4", 72e15 / 8),  # HGX page: 144 sparse | 72 dense for 8 GPUs
    ("B300", "fp4", 108e15 / 8),  # HGX page: 144 sparse | 108 dense for 8 GPUs: not the half
    ("GB300", "fp4", 15e15),  # Blackwell Ultra data sheet: 20 sparse | 15 dense: not the half
    ("MI250X", "bf16", 383.0e12 / 2),  # CDNA 2 white paper: 383.0 for the module of two dies
    ("MI300X", "bf16", 1307.4e12),  # MI300X data sheet
    ("MI325X", "bf16", 1307.4e12),  # MI325X data sheet
    ("MI355X", "bf16", 2.5166e15),  # MI355X brochure
    ("TPU v4", "bf16", 275e12),  # Google Cloud documentation
    ("TPU v5e", "bf16", 197e12),
    ("TPU v5p", "bf16", 459e12),
    ("TPU v6e", "bf16", 918e12),
    ("TPU v7", "bf16", 2307e12),
    ("TPU v7", "fp8", 4614e12),
    ("Trainium2", "bf16", 667e12),  # AWS Neuron documentation: 667 dense, 2,563 sparse
]

# What the sheets print with sparsity, as a reader meets it, per device.
SPARSE = [
    ("L4", {"tf32": 120e12, "bf16": 242e12, "fp16": 242e12, "fp8": 485e12, "int8": 485e12}),
    ("A10G", {"tf32": 70e12, "bf16": 140e12, "fp16": 140e12}),
    ("RTX 3090", {"tf32": 71e12, "bf16": 142e12, "fp16": 142e12, "int8": 568e12}),
    ("RTX 4090", {"tf32": 165.2e12, "bf16": 330.4e12, "fp16": 330.4e12, "fp8": 660.6e12, "int8": 1321.2e12}),
    ("L40S", {"tf32": 366e12, "bf16": 733e12, "fp16": 733e12, "fp8": 1466e12, "int8": 1466e12}),
    ("A100 40GB SXM", {"tf32": 312e12, "bf16": 624e12, "fp16": 624e12, "int8": 1248e12}),
    ("A100 80GB SXM", {"tf32": 312e12, "bf16": 624e12, "fp16": 624e12, "int8": 1248e12}),
    ("A100 40GB PCIe", {"tf32": 312e12, "bf16": 624e12, "fp16": 624e12, "int8": 1248e12}),
    ("A100 80GB PCIe", {"tf32": 312e12, "bf16": 624e12, "fp16": 624e12, "int8": 1248e12}),
    ("H100 SXM", {"tf32": 989e12, "bf16": 1979e12, "fp16": 1979e12, "fp8": 3958e12, "int8": 3958e12}),
    ("H100 PCIe", {"tf32": 756e12, "bf16": 1513e12, "fp16": 1513e12, "fp8": 3026e12, "int8": 3026e12}),
    ("H100 NVL", {"tf32": 835e12, "bf16": 1671e12, "fp16": 1671e12, "fp8": 3341e12, "int8": 3341e12}),
    ("H200", {"tf32": 989e12, "bf16": 1979e12, "fp16": 1979e12, "fp8": 3958e12, "int8": 3958e12}),
    ("H800", {"tf32": 989e12, "bf16": 1979e12, "fp16": 1979e12, "fp8": 3958e12}),
    ("B200", {"tf32": 2.25e15, "bf16": 4.5e15, "fp16": 4.5e15, "fp8": 9e15, "int8": 9e15, "fp4": 18e15}),
    ("GB200", {"tf32": 2.5e15, "bf16": 5e15, "fp16": 5e15, "fp8": 10e15, "int8": 10e15, "fp4": 20e15}),
    ("B300", {"tf32": 2.25e15, "bf16": 4.5e15, "fp16": 4.5e15, "fp8": 9e15, "int8": 307e12}),
    ("GB300", {"tf32": 2.5e15, "bf16": 5e15, "fp16": 5e15, "fp8": 10e15, "int8": 330e12}),
    ("MI300X", {"tf32": 1307.4e12, "bf16": 2614.9e12, "fp16": 2614.9e12, "fp8": 5229.8e12, "int8": 5229.8e12}),
    ("MI325X", {"tf32": 1307.4e12, "bf16": 2614.9e12, "fp16": 2614.9e12, "fp8": 5229.8e12, "int8": 5229.8e12}),
    ("MI355X", {"bf16": 5.03e15, "fp16": 5.03e15, "fp8": 10.07e15, "int8": 10.07e15}),
]

# Units at work, FLOP of one unit in a cycle, and the clock of that peak, for chips of which all three are stated.
UNITS = [
    ("V100 SXM 32GB", "fp16", 80, 8 * 128, 1530e6),  # V100 white paper, Table 1
    ("T4", "fp16", 40, 8 * 128, 1590e6),  # Turing: 8 tensor cores of 64 FMA in an SM; boost clock of the T4
    ("L4", "bf16", 58, 4 * 256, 2040e6),  # Ada white paper v2.02, Table 5; product brief PB-11316-001, Table 1
    ("L4", "fp8", 58, 4 * 512, 2040e6),
    ("A10G", "bf16", 80, 4 * 128, 1710e6),  # 80 SMs as CUDA counts them; FP32 accumulation at half rate, as GeForce
    ("RTX 3090", "bf16", 82, 4 * 128, 1695e6),  # GA102 white paper, Appendix A
    ("RTX 4090", "bf16", 128, 4 * 128, 2520e6),  # Ada white paper v2.02, Appendix A
    ("RTX 4090", "fp8", 128, 4 * 256, 2520e6),
    ("A100 80GB SXM", "bf16", 108, 4 * 512, 1410e6),  # A100 white paper, Table 4
    ("A100 80GB SXM", "tf32", 108, 4 * 256, 1410e6),
    ("A100 80GB SXM", "fp32", 108, 128, 1410e6),
    ("H100 SXM", "bf16", 132, 4 * 1024, 1830e6),  # H100 white paper v1.04, Table 3, clock of tensor cores
    ("H100 SXM", "fp8", 132, 4 * 2048, 1830e6),
    ("H100 SXM", "fp32", 132, 256, 1980e6),  # the same table, clock of the other cores
    ("H100 PCIe", "bf16", 114, 4 * 1024, 1620e6),
    ("H100 PCIe", "fp32", 114, 256, 1755e6),
    ("MI250X", "bf16", 110, 1024, 1700e6),  # CDNA 2 white paper: one of two dies
    ("MI300X", "bf16", 304, 2048, 2100e6),  # CDNA 3 white paper
    ("MI300X", "fp8", 304, 4096, 2100e6),
    ("MI325X", "bf16", 304, 2048, 2100e6),
    ("MI355X", "bf16", 256, 4096, 2400e6),  # CDNA 4 white paper, Table 1
    ("MI355X", "fp8", 256, 8192, 2400e6),
    ("MI355X", "fp32", 256, 256, 2400e6),
    ("TPU v4", "bf16", 8, 2 * 128 * 128, 1050e6),  # Jouppi et al. 2023, Table 4: matrix units of 128 x 128
    ("TPU v5e", "bf16", 4, 2 * 128 * 128, 1500e6),  # Austin et al., How to Think About TPUs
]

# Width of the memory bus in bits, and bits a second on each line.
BUSES = [
    ("T4", 256, 10e9),  # GDDR6; the data sheet's 300 GB/s is no product of these
    ("L4", 192, 2 * 6251e6),  # product brief PB-11316-001, Table 2
    ("RTX 3090", 384, 19.5e9),
    ("RTX 4090", 384, 21e9),
    ("L40S", 384, 2 * 9001e6),  # product brief PB-11470-001, Table 2
    ("A100 40GB SXM", 5120, 2 * 1215e6),  # A100 white paper, Table 4
    ("A100 80GB SXM", 5120, 2 * 1593e6),
    ("H100 SXM", 5120, 2 * 2619e6),
    ("H100 NVL", 6016, 2 * 2619e6),  # product brief PB-11773-001, Table 2
    ("MI250X", 4096, 3.2e9),  # CDNA 2 white paper: half of 8,192 bits
    ("MI300X", 8192, 5.2e9),
]


def test_a_peak_is_what_its_units_do_in_a_second():
    """An independent count: it would catch a sparse rate, a board's sum or FP16 accumulation."""
    for name, dtype, units, flops_per_cycle, clock in UNITS:
        assert accelerator(name).peak_flops(dtype) == pytest.approx(units * flops_per_cycle * clock, rel=0.005)


def test_the_l40s_page_prints_less_than_its_units_do():
    """142 SMs at 2,520 MHz make 366.4; the page prints 362.05 beside a sparse 733: kept as printed, and said."""
    chip = accelerator("l40s")
    counted = 142 * 4 * 256 * 2520e6  # L40S product brief PB-11470-001, Table 1, and Ada white paper v2.02
    assert counted == pytest.approx(733e12 / 2, rel=0.001)
    assert chip.peak_flops("bf16") == pytest.approx(counted, rel=0.013)
    assert "366.4" in chip.note


def test_memory_is_as_fast_as_its_bus():
    for name, bits, bits_per_second in BUSES:
        rate = accelerator(name).memory_bytes_per_second
        assert rate == pytest.approx(bits * bits_per_second / 8, rel=0.011)


def test_a_peak_is_the_dense_one_of_its_document():
    for name, dtype, flops in PRINTED:
        assert accelerator(name).peak_flops(dtype) == flops


def test_every_accelerator_has_a_line_among_the_printed_figures():
    assert {name for name, _, _ in PRINTED} == set(ACCELERATORS)


def test_no_peak_is_the_sparse_rate_of_its_type():
    """Twice the dense peak is the sparse one, within the rounding of the sheet."""
    for name, sparse in SPARSE:
        for dtype, flops in sparse.items():
            assert 2 * accelerator(name).peak_flops(dtype) == pytest.approx(flops, rel=0.013), dtype


def test_the_types_of_one_chip_stand_in_sane_ratios():
    for chip in ACCELERATORS.values():
        peaks = chip.peaks
        if {"fp16", "bf16"} <= set(peaks):
            assert peaks["fp16"] == peaks["bf16"]
        if {"fp32", "fp16"} <= set(peaks):
            assert 1.9 < peaks["fp16"] / peaks["fp32"] < 32
        if {"tf32", "bf16"} <= set(peaks):
            assert (
                peaks["bf16"] / peaks["tf32"] == pytest.approx(1, rel=0.02) or 1.9 < peaks["bf16"] / peaks["tf32"] < 2.1
            )
        if {"fp8", "bf16"} <= set(peaks):
            assert (
                peaks["fp8"] / peaks["bf16"] == pytest.approx(1, rel=0.02) or 1.9 < peaks["fp8"] / peaks["bf16"] < 2.1
            )
        if {"fp4", "fp8"} <= set(peaks):
            assert 1.9 < peaks["fp4"] / peaks["fp8"] < 3.1


def test_memory_and_links_are_plausible_and_sourced():
    for chip in ACCELERATORS.values():
        assert 16 <= chip.memory_gb <= 300
        assert 0.1e12 < chip.memory_bytes_per_second < 10e12
        assert chip.link_bytes_per_second is None or chip.link_bytes_per_second < chip.memory_bytes_per_second
        if chip.memory_bytes is not None:
            # A sheet's GB are GiB, less what the chip keeps for itself; or plain GB.
            assert 0.92 * chip.memory_gb * 1024**3 < chip.memory_bytes <= 1.07 * chip.memory_gb * 1024**3
        for fact in chip.facts.values():
            assert fact.source.strip()
            assert datetime.date(2026, 1, 1) <= fact.read <= datetime.date.today()


def test_what_is_missing_is_said():
    for chip in ACCELERATORS.values():
        missing = {"link": chip.link_bytes_per_second, "power": chip.power_watts}
        for word, value in missing.items():
            if value is None:
                assert word in chip.left_out.lower() or "pcie" in chip.left_out.lower()


def test_links_are_one_direction():
    # NVLink of the H100: 900 GB/s in the sheet is the sum of both directions.
    assert accelerator("h100").link_bytes_per_second == 450e9
    assert accelerator("a100").link_bytes_per_second == 300e9
    assert accelerator("h800").link_bytes_per_second == 200e9  # arXiv:2505.09343, section 4.1: cut to 400 GB/s
    assert accelerator("b200").link_bytes_per_second == 900e9
    assert accelerator("mi300x").link_bytes_per_second == 7 * 64e9


def test_the_driver_reports_less_than_80_gib_of_an_h100():
    assert accelerator("h100").memory_bytes == 81559 * 1024**2


def test_an_mi250x_is_two_devices():
    die = accelerator("mi250x")
    assert die.devices_per_module == 2
    assert die.devices_per_module * die.memory_gb == 128
    assert die.devices_per_module * die.peak_flops("bf16") == 383e12


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("h100", "H100 SXM"),
        ("H100", "H100 SXM"),
        ("a100", "A100 80GB SXM"),
        ("A100 80GB", "A100 80GB SXM"),
        ("a100-40gb", "A100 40GB SXM"),
        ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("v100", "V100 SXM 32GB"),
        ("tpu v5e", "TPU v5e"),
        ("TPU_v5e", "TPU v5e"),
        ("ironwood", "TPU v7"),
        ("trn2", "Trainium2"),
        ("AMD Instinct MI300X", "MI300X"),
        ("gb200", "GB200"),
    ],
)
def test_a_first_try_at_a_name_works(text, name):
    assert accelerator(text) is ACCELERATORS[name]


def test_a_near_miss_is_told_what_was_meant():
    with pytest.raises(ValueError, match=r"accelerator = 'h10': one of .*; did you mean 'h100'\?"):
        accelerator("h10")
    with pytest.raises(TypeError, match=r"accelerator = 100 \(int\)"):
        accelerator(100)


@pytest.mark.parametrize(("name", "dtype"), [("v100", "bf16"), ("t4", "bf16"), ("a100", "fp8"), ("h100", "fp4")])
def test_a_type_that_a_chip_lacks_is_refused_naming_what_it_has(name, dtype):
    chip = accelerator(name)
    with pytest.raises(ValueError, match=f"dtype = '{dtype}': {chip.name} has no {dtype}; it has .*fp16"):
        chip.peak_flops(dtype)


def test_a_type_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"dtype = 'bf61': one of fp32, .*did you mean 'bf16'"):
        accelerator("h100").peak_flops("bf61")


def test_the_long_names_of_types_are_known():
    assert accelerator("h100").peak_flops("bfloat16") == accelerator("h100").peak_flops("bf16")


def test_a_cluster_multiplies_one_device():
    cluster = Cluster(accelerator=accelerator("h100"), n_gpus=2048)
    assert cluster.peak_flops() == 989.4e12
    assert cluster.total_peak_flops("bf16") == 2048 * 989.4e12
    assert Cluster(accelerator="h100", n_gpus=2048) == cluster
    assert len({cluster, Cluster(accelerator="h100", n_gpus=2048)}) == 1


@pytest.mark.parametrize("n_gpus", [0, -1, 1.5, 8.0, True, "8", float("nan")])
def test_a_cluster_of_no_whole_number_is_refused(n_gpus):
    with pytest.raises((TypeError, ValueError), match="n_gpus"):
        Cluster(accelerator="h100", n_gpus=n_gpus)


def test_a_cluster_of_nothing_known_is_refused():
    with pytest.raises(TypeError, match="accelerator = 3"):
        Cluster(accelerator=3, n_gpus=8)


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"peaks": {}}, "peaks"),
        ({"peaks": {"bf16": -1.0}}, "peaks"),
        ({"peaks": {"fp12": 1e12}}, "dtype"),
        ({"memory_gb": 0}, "memory_gb"),
        ({"memory_bytes_per_second": float("inf")}, "memory_bytes_per_second"),
        ({"memory_bytes": -5.0}, "memory_bytes"),
        ({"link_bytes_per_second": "450"}, "link_bytes_per_second"),
        ({"power_watts": float("nan")}, "power_watts"),
        ({"devices_per_module": 0}, "devices_per_module"),
        ({"facts": None}, "facts = None"),
        ({"facts": ["peak_bf16"]}, "facts = "),
    ],
)
def test_an_accelerator_with_a_bad_figure_is_refused(change, argument):
    good = {"name": "X1", "peaks": {"bf16": 5e14}, "memory_gb": 80, "memory_bytes_per_second": 3e12}
    Accelerator(**good)
    with pytest.raises((TypeError, ValueError), match=argument):
        Accelerator(**good | change)


@pytest.mark.parametrize(
    ("text", "name", "chips"),
    [
        ("v4-8", "TPU v4", 4),
        ("v4-4096", "TPU v4", 2048),
        ("v5p-32", "TPU v5p", 16),  # Google Cloud documentation, TPU v5p, AcceleratorType
        ("v5p-512", "TPU v5p", 256),
        ("v5litepod-16", "TPU v5e", 16),
        ("v5e-256", "TPU v5e", 256),
        ("v6e-8", "TPU v6e", 8),
        ("tpu7x-128", "TPU v7", 64),  # xpk: tpu7x-128 is 4x4x4 chips
        ("TPU v5p-8", "TPU v5p", 4),
    ],
)
def test_a_slice_is_read_in_chips(text, name, chips):
    cluster = tpu_slice(text)
    assert (cluster.accelerator.name, cluster.n_gpus) == (name, chips)


@pytest.mark.parametrize(
    "text",
    ["v5p", "v5p-", "v5p-0", "v5p--8", "v5p-7", "h100-8", "v9-8", "", "-8", "v5p-8.5", "v5p-²", "v5p-" + "8" * 5000],
)
def test_what_names_no_slice_is_refused(text):
    with pytest.raises(ValueError, match=r"slice|accelerator"):
        tpu_slice(text)


def test_a_slice_must_be_text():
    with pytest.raises(TypeError, match="slice = 512"):
        tpu_slice(512)


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM"),  # as nvidia-smi prints them
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA L40S", "L40S"),
        ("AMD Instinct MI300X", "MI300X"),
        ("Google TPU v5e", "TPU v5e"),
        ("aws trainium2", "Trainium2"),
    ],
)
def test_a_name_is_taken_as_drivers_print_it_by_function_and_control_alike(printed, name):
    assert accelerator(printed).name == name
    assert controls.accelerator("H100 SXM").read(printed) == name


@pytest.mark.parametrize(("long", "dtype"), [("bfloat16", "bf16"), ("float16", "fp16"), ("Half", "fp16")])
def test_the_long_name_of_a_type_is_taken_by_function_and_control_alike(long, dtype):
    assert accelerator("h100").peak_flops(long) == accelerator("h100").peak_flops(dtype)
    assert controls.dtype("bf16").read(long) == dtype


def test_names_and_aliases_are_all_different():
    names = [check.plain_name(n) for chip in ACCELERATORS.values() for n in (chip.name, *chip.aliases)]
    assert len(names) == len(set(names))
    twice = {
        "a": ACCELERATORS["T4"],
        "b": Accelerator(name="T 4", peaks={"fp16": 1e12}, memory_gb=1, memory_bytes_per_second=1e9),
    }
    with pytest.raises(ValueError, match="names both"):
        hardware._named(twice)


def test_peaks_cannot_be_changed():
    with pytest.raises(TypeError):
        accelerator("h100").peaks["bf16"] = 1979e12


def test_int8_is_in_operations_and_the_rest_in_flop():
    for chip in ACCELERATORS.values():
        for dtype in DTYPES:
            fact = chip.facts.get(f"peak_{dtype}")
            assert fact is None or isinstance(fact, facts.Fact)
            assert fact is None or fact.unit == ("OP/s" if dtype == "int8" else "FLOP/s")
