"""The program inside the jail: it runs a submission's cells and calls what they define. It knows no expected value.

It imports the standard library alone. Two kinds of process share it. The *warden* reads one line after another and
answers each with one; it never runs a submission. For each question it forks an *inmate*, which runs the cells and is
then called: so no question can touch another, and one start of Python serves all of them. Each line is JSON:

    {"nonce", "uid", "main", "cells", "paths", "seconds"}  ->  {"ready", "uid"}
    {"survey": [NAMES]}   ->  {"kinds": {NAME: KIND}, "faults": {NAME: FAULT}, "names": [...], "absent": [...]}
    {"load": NAME}        ->  {"found": true or false}, after the cells have run in a fresh inmate
    {"call": [ARGUMENTS]} ->  {"value": ...}, {"raised": TYPE} or {"unfit": TYPE}
    {"read": true}        ->  the same, for a question that asks for a value

or with {"ended": HOW} where the inmate came to an end. The survey comes first: what is told of cells in words is
told before there is any input that could be told with it.
"""
