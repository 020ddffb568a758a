"""The tables of facts that the reference pages show, straight from the data files."""

from lib import check, facts
from lib.compute import chinchilla_optimal, training_days
from lib.hardware import ACCELERATORS, DTYPES, Cluster
from lib.tables import Table
from lib.units import GB, GIB, HOURS_PER_DAY, SECONDS_PER_DAY, show_count, show_number, show_power, show_seconds

TERA = 1e12
GIGA = 1e9
NONE = "-"
_OTHER_FIELDS = ("memory_gb", "memory_bytes_per_second", "link_bytes_per_second", "power_watts")


def peaks():
    """Dense peaks of one device, in TFLOP/s (int8: TOP/s); the last column counts the rows of `accelerator_documents`.

    >>> peaks().rows[0]
    ('V100 SXM 16GB', '15.7', '-', '125', '-', '-', '-', '-', '1')
    """
    fields = tuple(f"peak_{dtype}" for dtype in DTYPES)
    rows = (
        (c.name, *(_shown(c.peaks.get(dtype), TERA) for dtype in DTYPES), _numbers(c, fields))
        for c in ACCELERATORS.values()
    )
    return Table(head=("chip", *DTYPES, "from"), rows=tuple(rows))


def memory_and_links():
    """Memory as on the sheet, links in one direction and power of one device, with sources as in `peaks`.

    >>> memory_and_links().rows[0]
    ('V100 SXM 16GB', '16', '0.9', '150', '300', '1')
    """
    rows = (
        (
            chip.name,
            _shown(chip.memory_gb),
            _shown(chip.memory_bytes_per_second, TERA),
            _shown(chip.link_bytes_per_second, GIGA),
            _shown(chip.power_watts),
            _numbers(chip, _OTHER_FIELDS),
        )
        for chip in ACCELERATORS.values()
    )
    head = ("chip", "memory, GB", "memory, TB/s", "links, GB/s", "power, W", "from")
    return Table(head=head, rows=tuple(rows))


def accelerator_documents():
    """The documents in which these figures were read, numbered as in `peaks` and `memory_and_links`.

    >>> accelerator_documents().rows[0]
    ('1', 'NVIDIA V100 data sheet 1165301 r5, specifications, V100 SXM2')
    """
    rows = tuple((str(1 + place), document) for place, document in enumerate(_documents()))
    return Table(head=("no.", "document"), rows=rows)


def traps():
    """What to know of an accelerator, and which of its figures could not be verified.

    >>> next(row for row in traps().rows if row[0] == "TPU v6e")
    ('TPU v6e', '-', 'Power: not published.')
    """
    rows = tuple((c.name, c.note or NONE, c.left_out or NONE) for c in ACCELERATORS.values() if c.note or c.left_out)
    return Table(head=("accelerator", "what to know", "left out, because not verified"), rows=rows)


def driver_memory():
    """The number on the sheet against the bytes that the driver reports.

    >>> next(row for row in driver_memory().rows if row[0] == "B200")
    ('B200', '180', '192.3', '179.1')
    """
    head = ("accelerator", "sheet, GB", "driver, GB", "driver, GiB")
    seen = [chip for chip in ACCELERATORS.values() if chip.memory_bytes is not None]
    rows = tuple(
        (c.name, _shown(c.memory_gb), f"{c.memory_bytes / GB:.1f}", f"{c.memory_bytes / GIB:.1f}") for c in seen
    )
    return Table(head=head, rows=rows)


def budgets(cluster, mfu, compute=(1e20, 1e21, 1e22, 1e23, 1e24, 1e25)):
    """Budgets in round numbers: the size and tokens of the 20:1 rule, and how long a cluster works on them.

    Args:
        cluster: a `Cluster`.
        mfu: by 6N over the dense bf16 peak, above 0, at most 1.
        compute: budgets, FLOP, each > 0.

    Raises:
        ValueError: for a budget that is not positive, an MFU that is no fraction.

    >>> from lib.hardware import Cluster
    >>> budgets(Cluster(accelerator="h100", n_gpus=1024), 0.40, (1e22,)).rows
    (('1e22', '9.129B', '182.6B', '6.854 h', '7,019'),)
    """
    check.instance(Cluster, cluster=cluster)
    check.several(compute=compute)
    rows = []
    for flops in compute:
        n_params, n_tokens = chinchilla_optimal(flops)
        days = training_days(n_params, n_tokens, cluster.n_gpus, cluster.peak_flops(), mfu)
        time, gpu_hours = show_seconds(days * SECONDS_PER_DAY), show_number(days * HOURS_PER_DAY * cluster.n_gpus)
        rows.append((show_power(flops), show_count(n_params), show_count(n_tokens), time, gpu_hours))
    head = ("FLOP", "parameters", "tokens", f"on {cluster.n_gpus:,} {cluster.accelerator.name}", "GPU-hours")
    return Table(head=head, rows=tuple(rows))


def documents(*files):
    """Every document that the facts of some data files were read in, with whose facts they are.

    Args:
        files: names of data files, such as "laws"; none means all but the accelerators.

    Returns:
        `Table` of document and names, in alphabetical order.

    >>> documents("gpu_hours").rows[2]
    ('Grattafiori et al. 2024, arXiv:2407.21783, section 1', 'Llama 3.1 405B')
    """
    used = {}
    for file in files or (name for name in facts.files() if name != "accelerators"):
        for document, names in facts.sources(file).items():
            used.setdefault(document, []).extend(name for name in names if name not in used.get(document, ()))
    rows = tuple((document, "; ".join(used[document])) for document in sorted(used, key=str.lower))
    return Table(head=("document", "facts of"), rows=rows)


def _documents():
    fields = (*(f"peak_{dtype}" for dtype in DTYPES), *_OTHER_FIELDS)
    return list(dict.fromkeys(c.sources[f] for c in ACCELERATORS.values() for f in fields if f in c.sources))


def _numbers(chip, fields):
    documents = _documents()
    numbers = sorted({1 + documents.index(chip.sources[field]) for field in fields if field in chip.sources})
    return ", ".join(map(str, numbers))


def _shown(value, scale=1.0):
    # The sheets' own digits: 1,978.9 must not become 1,979, which is a sparse figure elsewhere.
    return NONE if value is None else f"{value / scale:,.10g}"
