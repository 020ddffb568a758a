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
    seen, todo = set(), [answer]
    while todo:
        thing = todo.pop()
        if id(thing) in seen or not any(type(thing) is kind for kind in _LOOKED_INTO):  # `is`: a metaclass may claim to
            continue  # equal everything
        seen.add(id(thing))
        if name := _name_in_lib(thing):
            return name
        todo += reversed(list(_reached(thing)))
    return ""


def borrowed(question, answer):
    """The report on an answer that is the library's; None for one's own, and where `lib` may be used.

    Args:
        question: a `Question`.
        answer: anything.
    """
    source = "" if question.kind == "value" or question.allows_lib else of_lib(answer)
    words = f"{source} is the library's: importing or calling it is no solution."
    return refusal(question.title, question.name, "from lib", words) if source else None


def _name_in_lib(thing):
    """The name of a thing of `lib`, or of what of it a function's code names; else empty."""
    kind = type(thing)
    if kind is types.ModuleType:
        return thing.__name__ if _is_lib(thing.__name__) else ""
    if kind in (functools.partial, types.MethodType):
        return ""
    if type(thing.__module__) is str and _is_lib(thing.__module__):
        return f"{thing.__module__}.{thing.__name__}"
    return next(filter(_is_lib, _names(thing.__code__)), "") if kind is types.FunctionType else ""


def _reached(thing):
    """What a partial or a method calls; what a function holds or names: its wrapped one, globals, cells, defaults."""
    if type(thing) in (functools.partial, types.MethodType):
        yield getattr(thing, "func", None) or thing.__func__
    if type(thing) is not types.FunctionType:
        return
    yield getattr(thing, "__wrapped__", None)
    yield from (thing.__globals__.get(name) for name in _names(thing.__code__))
    for cell in thing.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
    yield from thing.__defaults__ or ()
    yield from (thing.__kwdefaults__ or {}).values()


def _names(code):
    """All names in a function's code and in the functions inside it; imports are among them."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def _is_lib(name):
    return name == "lib" or name.startswith("lib.")
