"""What no allocator counts: the driver's context of a process, and the buffers of each group that communicates."""

from lib import facts

_MIB = 2**20
FACTS = facts.load("memory_constants", {"mib": "MiB"})
CONTEXT_BYTES = float(FACTS["CUDA context"]["mib"] * _MIB)
NCCL_BYTES = float(FACTS["NCCL communicator"]["mib"] * _MIB)  # for each communicator
