"""The process that runs a submission: limited first, then all cells, then one call after another."""

import ast
import builtins
import json
import os
import sys
import types

from .displays import install
from .lines import EndedError, Lines, send
from .values import LONGEST, UnfitError, frozen, thawed, type_name

MEMORY_BYTES = 512 * 1024**2
FILE_BYTES = 8 * 1024**2
LIMITS = {"AS": MEMORY_BYTES, "FSIZE": FILE_BYTES, "NPROC": 0, "CORE": 0, "NOFILE": 32, "CPU": 60, "MEMLOCK": 0}


def live(job, parts, skipped, request, pipes):
    """Run the cells and answer the request, then calls; never return.

    Args:
        job: the warden's first line.
        parts: of `cells.parts`.
        skipped: part -> how it ended; not run again.
        request: the line to answer once the cells have run.
        pipes: the numbers to read calls from, and to answer on.
    """
    inner, outer = pipes
    try:
        os.setsid()
        limit(LIMITS)
        sys.path.extend(job["paths"])
        space = _space("__main__" if job["main"] else "submission")
        faults, absent = _run(parts, skipped, space, outer)
        if "survey" in request:
            send(outer, _survey(request["survey"], space, faults, absent))
        else:
            name = request["load"]
            send(outer, {"found": name in space})
            _serve(space.get(name), Lines(inner), outer)
    finally:
        os._exit(0)


def limit(limits):
    """Limit this process and those that it starts, for good.

    Args:
        limits: the name of a limit, such as "AS" -> the most.
    """
    import resource  # not on Windows, where nobody is jailed

    for kind, most in limits.items():
        number = getattr(resource, f"RLIMIT_{kind}", None)
        if number is not None:
            hard = resource.getrlimit(number)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (most, most))


def _space(name):
    """The names that the cells share. `input` answers at once, as nobody is there to type."""
    module = types.ModuleType(name)
    sys.modules[name] = module  # dataclasses look for it there
    builtins.input = lambda prompt="": "1"
    install(module.__dict__)
    return module.__dict__


def _run(parts, skipped, space, outer):
    """Run every statement by itself: what went wrong, by the name that it should have bound, and modules missed."""
    faults, absent = {}, []
    for number, part in enumerate(parts):
        fault = part.fault
        if fault is None and number in skipped:
            fault = {"how": skipped[number], "cell": part.cell, "line": part.statement.lineno}
        elif fault is None:
            os.write(outer, b"@%d\n" % number)
            fault = _executed(part, space, absent)
        for name in part.names:
            faults.pop(name, None)
            if fault:
                faults[name] = fault
    return faults, absent


def _executed(part, space, absent):
    try:
        exec(compile(ast.Module([part.statement], []), f"<cell {part.cell}>", "exec"), space)
    except BaseException as error:
        if type(error) is ModuleNotFoundError and type(error.name) is str:
            absent.append(error.name[:80])
        words = {"type": type_name(error), "text": _text(error)}
        return {"how": "raised", "cell": part.cell, "line": part.statement.lineno, **words}
    return None


def _text(error):
    try:
        return f"{error}"[:200]
    except BaseException:
        return ""


def _survey(names, space, faults, absent):
    kinds = {name: "function" if callable(space[name]) else type_name(space[name]) for name in names if name in space}
    others = [name for name, value in space.items() if isinstance(value, types.FunctionType)]
    others = [name for name in others if name[0] != "_" and name not in ("exit", "quit")]
    found = {name: faults[name] for name in names if name in faults}
    return {"kinds": kinds, "faults": found, "names": others[:50], "absent": absent[:20]}


def _serve(thing, lines, outer):
    while True:
        try:
            request = json.loads(lines.next())
        except EndedError:
            return
        answer = _answer(thing, request)
        os.write(outer, answer.encode("ascii", "replace") + b"\n")


def _answer(thing, request, dumps=json.dumps):
    try:
        value = thing(*map(thawed, request["call"])) if "call" in request else thing
        text = dumps({"value": frozen(value)})
        return text if len(text) <= LONGEST else '{"unfit": "too much"}'
    except UnfitError as error:
        return dumps({"unfit": f"{error}"})
    except MemoryError:
        return '{"raised": "MemoryError"}'
    except BaseException as error:
        return dumps({"raised": type_name(error)})
