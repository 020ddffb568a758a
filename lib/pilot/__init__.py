"""A small transformer that really trains, built from a plan's own shape; and what a compiler says of a large one.

The only room that imports JAX (extra `pilot`), in `model`, `step`, `mesh` and `lower`. The others need the standard
library alone: which tensors there are (`tensors`), how devices cut them and how many bytes that makes (`cuts`), the
products of a compiled program (`hlo`), and asking a process of its own for the compiler's word (`compiled`).
"""
