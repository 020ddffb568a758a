"""Controls that several what-ifs share: one name, one range, one set of words that people type for it."""

from lib import architecture, hardware
from lib.units import SEQUENCE
from lib.whatif.model import Choice, Number

# Nobody multiplies matrices in int8 to train a model.
_TRAINED_IN = tuple(dtype for dtype in hardware.DTYPES if dtype != "int8")

SEQ_LEN = Number(
    name="seq_len",
    label="sequence length",
    start=8192,
    low=1024,
    high=131_072,
    unit=SEQUENCE,
    scale="log",
    whole=True,
    aliases=("sequence_length", "context", "context_length"),
    help="attention grows with it",
)


def model(start, *first, help=""):
    """A released model; `first` are options before the list of them."""
    return Choice(
        name="model",
        label="model",
        start=start,
        options=(*first, *architecture.MODELS),
        synonyms=tuple(architecture.SYNONYMS.items()),
        aliases=("architecture", "shape", "model_name"),
        help=help,
    )


def n_gpus(start, help=""):
    """How many devices."""
    return Number(
        name="n_gpus",
        label="GPUs",
        start=start,
        low=1,
        high=100_000,
        unit="GPUs",
        scale="log",
        whole=True,
        aliases=("gpus", "devices", "chips", "num_gpus"),
        help=help,
    )


def accelerator(start):
    """A device of the table."""
    return Choice(
        name="accelerator",
        label="accelerator",
        start=start,
        options=tuple(hardware.ACCELERATORS),
        synonyms=tuple(hardware.SYNONYMS.items()),
        aliases=("gpu", "chip", "device", "hardware"),
    )


def dtype(start):
    """The data type of the matrix products, which decides the peak."""
    return Choice(
        name="dtype",
        label="data type",
        start=start,
        options=_TRAINED_IN,
        synonyms=tuple(hardware.OTHER_DTYPE_NAMES.items()),
        aliases=("precision", "data_type"),
        help="of the matrix products: it decides the peak",
        more=True,
    )


def budget(start, help):
    """The control for a compute budget, with the words by which people name one."""
    return Number(
        name="compute",
        label="compute budget",
        start=start,
        low=1e19,
        high=1e26,
        unit="FLOP",
        scale="log",
        aliases=("budget", "flops", "c", "train_flops", "compute_flops"),
        help=help,
    )
