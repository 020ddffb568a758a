"""A small transformer that really trains, built from a plan's own shape; and what a compiler says of a large one.

`climb` climbs rungs 1 to 4 of a described run here: `pilot` scales the run down, `text` makes what it reads, and each
rung is a module with one function `measure(pilot, report)` (`unit`, `one_batch`, `one_device`, `one_node`), which runs
what is compiled in `programs`.

The only room that imports JAX (extra `pilot`): in `model`, `step`, `mesh`, `shards`, the rungs and what runs them. The
others need the standard library alone: which tensors there are (`tensors`), how devices cut them and how many bytes
that makes (`cuts`), the products of a compiled program (`hlo`), and asking a process of its own (`climb`, `compiled`).
"""
