"""Which slice of each tensor a device holds, and the bytes that makes: the layout's degrees laid on a mesh of devices.

The mesh has three axes. "data" is the layout's data degree. Its tensor degree is "heads" times "copies": where there
are fewer key heads than tensor ranks, the ranks of one key head differ along "copies", and each holds a copy of it.

Rounding, which is all that an equal share of the states is ever off by:

1. the tables have rows up to the next multiple of the tensor degree;
2. ZeRO cuts a tensor along its width if the data degree divides it, else along the first other side that it divides;
   a tensor without such a side is whole on every data rank. Layers, which lie along one side, are never cut.
"""

import math
from types import MappingProxyType
from typing import NamedTuple

from lib import check
from lib.layout import check_layout
from lib.pilot.tensors import Tensor, tensors

AXES = ("data", "heads", "copies")
# Which axes cut a side; norms, and what writes into the residual stream, are whole on every tensor rank.
_TENSOR = ("heads", "copies")
BY_TENSOR = MappingProxyType({"kv_heads": ("heads",), "group": ("copies",), "d_ff": _TENSOR, "vocab": _TENSOR})
_BYTES = MappingProxyType({"bfloat16": 2, "float32": 4, "float64": 8})
KINDS = MappingProxyType({"weights": 3, "gradients": 2, "optimizer": 1})  # the ZeRO stage from which it is sharded


class Precision(NamedTuple):
    """Types of what is kept, and of what products read; no master copy where the optimizer steps the weights.

    The moments are of the type of what is stepped, as Optax makes them.
    """

    weights: str
    gradients: str
    master: str | None
    compute: str

    @property
    def state_bytes(self):
        """Bytes of a parameter's weights, gradients, and optimizer states (master copy and two moments).

        >>> PRECISIONS["bf16, fp32 gradients"].state_bytes
        {'weights': 2, 'gradients': 4, 'optimizer': 12}
        """
        optimizer = 3 * _BYTES[self.master] if self.master else 2 * _BYTES[self.weights]
        return dict(zip(KINDS, (_BYTES[self.weights], _BYTES[self.gradients], optimizer), strict=True))


PRECISIONS = MappingProxyType(
    {
        "fp32, bf16 compute": Precision("float32", "float32", None, "bfloat16"),
        "bf16": Precision("bfloat16", "bfloat16", "float32", "bfloat16"),
        "bf16, fp32 gradients": Precision("bfloat16", "float32", "float32", "bfloat16"),
        "fp32": Precision("float32", "float32", None, "float32"),
        "fp64": Precision("float64", "float64", None, "float64"),  # for finite differences
    }
)


def degrees(shape, layout):
    """Devices along each axis of the mesh, after the layout was checked.

    Args:
        shape: a `Transformer`.
        layout: a `Layout` of data and tensor degrees; the others are 1.

    Raises:
        TypeError: for what is neither.
        ValueError: for a layout that the shape cannot be cut into, or that the pilot does not lay out.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> degrees(model("llama-3-8b"), Layout(data=4, tensor=16))
    {'data': 4, 'heads': 8, 'copies': 2}
    """
    check_layout(shape, layout)
    for name in ("pipeline", "context", "expert"):
        if getattr(layout, name) > 1:
            raise ValueError(f"layout.{name} = {getattr(layout, name)}: 1, for the pilot cuts by data and tensor")
    heads = min(layout.tensor, shape.n_kv_heads)
    return dict(zip(AXES, (layout.data, heads, layout.tensor // heads), strict=True))


def rows(shape, layout):
    """Rows of the tables as the layout stores them: vocab_size up to the next multiple of the tensor degree.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> rows(model("gpt-2"), Layout(tensor=4))
    50260
    """
    check_layout(shape, layout)
    return -(-shape.vocab_size // layout.tensor) * layout.tensor


def padded(shape, layout):
    """The tensors as the layout stores them: those of `lib.pilot.tensors` with `rows`."""
    return tensors(shape, rows(shape, layout))


def cut(tensor, mesh, over_data):
    """The axes that cut each side of a tensor: {side: axes}, sides in order.

    Args:
        tensor: a `Tensor`.
        mesh: devices along each axis, as `degrees` gives them.
        over_data: True to cut it over the data ranks too.

    Raises:
        TypeError: for what is none of these.

    >>> up = Tensor({"layer": 2, "width": 64, "d_ff": 192}, 0.02, 0.0)
    >>> cut(up, {"data": 4, "heads": 2, "copies": 1}, over_data=True)
    {'layer': (), 'width': ('data',), 'd_ff': ('heads', 'copies')}
    """
    check.instance(Tensor, tensor=tensor)
    check.instance(dict, mesh=mesh)
    check.boolean(over_data=over_data)
    found = {side: BY_TENSOR.get(side, ()) for side in tensor.sides}
    if over_data:
        sides = sorted(tensor.sides, key=lambda side: side != "width")
        fit = (side for side in sides if side != "layer" and _piece(tensor, side, found, mesh) % mesh["data"] == 0)
        side = next(fit, None)
        found |= {side: ("data", *found[side])} if side else {}
    return found


def device_params(shape, layout, over_data):
    """Parameters that one device holds, with the rounding that stands at the head of this module.

    Args:
        shape: a `Transformer`.
        layout: a `Layout` of data and tensor degrees.
        over_data: True if the data ranks share them (ZeRO).

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> device_params(model("llama-3-8b"), Layout(data=8), over_data=True) * 8
    8030261248
    """
    check.boolean(over_data=over_data)
    mesh = degrees(shape, layout)
    every = (tensor for part in padded(shape, layout).values() for tensor in part.values())
    cuts = ((tensor, cut(tensor, mesh, over_data)) for tensor in every)
    return sum(math.prod(_piece(tensor, side, found, mesh) for side in found) for tensor, found in cuts)


def device_bytes(shape, layout, precision):
    """Bytes of the states that one device holds: {"weights": ..., "gradients": ..., "optimizer": ...}.

    Args:
        shape: a `Transformer`.
        layout: a `Layout` of data and tensor degrees.
        precision: a name in `PRECISIONS`; all of them with AdamW.

    Raises:
        TypeError, ValueError: as `degrees`; for a name that is not in the list.

    Source: Rajbhandari et al. 2020, arXiv:1910.02054, sections 3.1 and 5.

    >>> from lib.architecture import model
    >>> from lib.layout import Layout
    >>> found = device_bytes(model("llama-3-8b"), Layout(data=8, zero_stage=3), "bf16")
    >>> sum(found.values()) * 8 / 8030261248
    16.0
    """
    check_layout(shape, layout)
    check.choice(tuple(PRECISIONS), precision=precision)
    sharded = {kind: layout.zero_stage >= stage for kind, stage in KINDS.items()}
    each = PRECISIONS[precision].state_bytes
    return {kind: each[kind] * device_params(shape, layout, over_data) for kind, over_data in sharded.items()}


def _piece(tensor, side, found, mesh):
    """What one device holds of a side."""
    return tensor.sides[side] // math.prod(mesh[axis] for axis in found[side])
