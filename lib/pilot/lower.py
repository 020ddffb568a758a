"""Run as a process of its own, `python -m lib.pilot.lower`: compiles a step and prints what the compiler says of it.

How many devices a CPU shows is settled before JAX starts, so the asking process, `lib.pilot.compiled`, cannot do this.
"""

import json
import sys
from importlib.metadata import version

from lib.architecture import Transformer
from lib.layout import Layout
from lib.pilot.hlo import dot_flops
from lib.pilot.mesh import lay
from lib.pilot.step import adamw

_LEARNING_RATE = 1e-3  # changes no byte


def facts(shape, layout, precision):
    """Bytes and FLOPs of the last micro-batch of a step on one device, as a dictionary of plain numbers and texts."""
    laid = lay(shape, layout, adamw(shape, _LEARNING_RATE), precision)
    compiled = laid.step.lower(laid.state, laid.batch, laid.gradients).compile()
    memory = compiled.memory_analysis()
    return {
        "argument_bytes": memory.argument_size_in_bytes,
        "temporary_bytes": memory.temp_size_in_bytes,
        "dot_flops": layout.n_gpus * dot_flops(compiled.as_text()),
        "cost_flops": layout.n_gpus * compiled.cost_analysis()["flops"],
        "versions": ", ".join(f"{package} {version(package)}" for package in ("jax", "jaxlib", "optax")),
    }


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    shape = Transformer(**asked["shape"] | {"windows": tuple(asked["shape"]["windows"])})  # JSON knows no tuple
    print(json.dumps(facts(shape, Layout(**asked["layout"]), asked["precision"])))
