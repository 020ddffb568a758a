"""Whether an answer is the library's own function, as far as that can be seen.

Recognised: a function of `lib`, one that wraps it (`partial`, `wraps`), and one whose code imports `lib` or names
something of it, itself or through other functions. Not recognised: a copy of the text, names put together while the
code runs, an object of a class of one's own that can be called. So this is a reminder in the notebook; where points
are given, the jail has no `lib`.
"""

import functools
import types

from lib.exercises.trying import refusal

_CACHED = type(functools.cache(len))
_LOOKED_INTO = (types.FunctionType, types.MethodType, types.ModuleType, functools.partial, type, _CACHED)


def of_lib(answer):
    """The name of what of `lib` an answer is or uses; empty where none is seen.

    Args:
        answer: anything.

    >>> from lib.compute import train_flops
    >>> of_lib(functools.partial(train_flops, 1e9)), of_lib(max)
    ('lib.compute.train_flops', '')
    """
    return _search(answer, set())


def borrowed(question, answer):
    """The report on an answer that is the library's; None for one's own, and where `lib` may be used.

    Args:
        question: a `Question`.
        answer: anything.
    """
    source = "" if question.kind == "value" or question.allows_lib else of_lib(answer)
    words = f"{source} is the library's: importing or calling it is no solution."
    return refusal(question.title, question.name, "from lib", words) if source else None


def _search(thing, seen):
    kind = type(thing)  # not isinstance: an object of the student's own may claim to be anything
    if id(thing) in seen or kind not in _LOOKED_INTO:
        return ""
    seen.add(id(thing))
    if kind is functools.partial:
        return _search(thing.func, seen)
    if kind is types.MethodType:
        return _search(thing.__func__, seen)
    if kind is types.ModuleType:
        return thing.__name__ if _is_lib(thing.__name__) else ""
    if type(thing.__module__) is str and _is_lib(thing.__module__):
        return f"{thing.__module__}.{thing.__name__}"
    if kind is not types.FunctionType:
        return ""
    uses = [name for name in _names(thing.__code__) if _is_lib(name)]
    return uses[0] if uses else next(filter(None, (_search(other, seen) for other in _reached(thing))), "")


def _reached(function):
    """What a function holds or names: what it wraps, its globals, cells and defaults."""
    yield getattr(function, "__wrapped__", None)
    yield from (function.__globals__.get(name) for name in _names(function.__code__))
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _names(code):
    """All names in a function's code and in the functions inside it; imports are among them."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _is_lib(name):
    return name == "lib" or name.startswith("lib.")
