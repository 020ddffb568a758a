"""Two constants that hold for every framework: what the driver takes for itself, and the communication library."""

CONTEXT_BYTES = 0.5 * 2**30
NCCL_BYTES = 1.0 * 2**30
