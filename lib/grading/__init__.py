"""Grading: submissions run in a jail and are compared outside it; one record each.

A submission's code and the right answers never meet in one process. `conversation` starts a `jail`, in which the
program of `jailed` runs the cells and calls what they define, on inputs that come one at a time. `grader` compares
what comes back, `batch` does so for a class on any executor, `record` says what is written. `release` makes what
students get; `nbgrader_tree` and `gradescope_zip` make what other systems take, and hold less apart.
"""
