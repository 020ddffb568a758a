"""What a reader's code must leave as it was, since the page's what-ifs run in the same Python.

Put back are: every name of every module, `sys.modules` itself, and of `lib` the code of functions and what lists,
dicts, sets and classes hold. Modules that the code imported are dropped: one of them may be a fake. What a notebook
may well do is put back and not told: to add to `sys.path`, to filter warnings. Not seen: what is changed deeper inside
objects, and what JavaScript is told.
"""

import builtins
import sys
import types
from operator import is_

from lib.exercises.trying import put_back

_MARK = object()
_APART = ("builtins", "__main__")  # put back by itself; the caller's own
_QUIET = ("sys", "warnings")


class Picture:
    """Python as it is now.

    >>> import math
    >>> before, math.tau = Picture(), 6
    >>> before.put_back(), math.tau
    (['math.tau'], 6.283185307179586)
    """

    def __init__(self):
        self.builtins, self.modules = dict(builtins.__dict__), dict(sys.modules)
        self.settings = sys.getrecursionlimit(), sys.gettrace(), sys.getprofile()
        named = [(name, one.__dict__) for name, one in self.modules.items() if isinstance(one, types.ModuleType)]
        self.spaces = [(name, space, dict(space)) for name, space in named if name not in _APART]
        self.kept = _copied(one for name, space, _ in self.spaces if _is_lib(name) for one in _own(name, space))
        self.quiet = _copied(one for name in _QUIET for one in _own(name, vars(self.modules[name])))
        self.cached = [thing for name, space, _ in self.spaces if _is_lib(name) for thing in _cached(space)]

    def put_back(self):
        """Put back what is not as it was; the public names that stood for something else."""
        self._put_back_settings()
        changed = put_back(self.builtins)  # first: what follows needs them
        changed += _restored(sys.modules, self.modules)
        for name, space, before in self.spaces:
            changed += [f"{name}.{one}" for one in _restored(space, before)]
        changed += [_named(thing) for thing, before in self.kept if _refilled(thing, before)]
        for thing, before in self.quiet:
            _refilled(thing, before)
        for function in self.cached if changed else ():
            function.cache_clear()  # of what was computed meanwhile
        return [name for name in changed if "._" not in name]

    def _put_back_settings(self):
        deepest, trace, profile = self.settings
        if sys.gettrace() is not trace:  # else not touched: setting one costs milliseconds
            sys.settrace(trace)
        if sys.getprofile() is not profile:
            sys.setprofile(profile)
        sys.setrecursionlimit(deepest)


def _is_lib(name):
    return name == "lib" or name.startswith("lib.")


def _own(name, space):
    """What a module holds; functions and classes where they were defined."""
    return [thing for thing in space.values() if getattr(thing, "__module__", name) == name]


def _copied(things):
    """What can be put back, with a copy of its inside; once, for many modules hold the same dict."""
    each = {id(thing): thing for thing in things}.values()
    return [(thing, copied) for thing in each if (copied := _inside(thing)) is not None]


def _cached(space):
    return [thing for thing in space.values() if hasattr(type(thing), "cache_clear")]


def _restored(now, before):
    """Make a dict what it was; the names that stood for something else, or for nothing."""
    if _is_as(now, before):
        return []
    changed = [name for name, thing in before.items() if now.get(name, _MARK) is not thing]
    now.clear()
    now.update(before)
    return changed


def _is_as(now, before):
    """Whether two dicts, lists, sets or classes hold the same, by identity: what a reader made may equal anything."""
    if type(now) is set:  # a copy may come in another order
        return {id(one) for one in now} == {id(one) for one in before}
    if len(now) != len(before) or not all(map(is_, now, before)):
        return False
    return not hasattr(now, "values") or all(map(is_, now.values(), before.values()))


def _inside(thing):
    """A copy of what is inside, of kinds that can be put back."""
    if type(thing) is type:
        return dict(vars(thing))
    if type(thing) is types.FunctionType:
        return thing.__code__, thing.__defaults__, thing.__kwdefaults__
    return thing.copy() if type(thing) in (list, dict, set) else None


def _refilled(thing, before):
    """Put back what was inside; whether it was something else."""
    if type(thing) is dict:
        return bool(_restored(thing, before))
    if type(thing) is type:
        return _reclassed(thing, before)
    if type(thing) is types.FunctionType:
        if thing.__code__ is before[0] and thing.__defaults__ is before[1] and thing.__kwdefaults__ is before[2]:
            return False
        thing.__code__, thing.__defaults__, thing.__kwdefaults__ = before
        return True
    if _is_as(thing, before):
        return False
    thing.clear()
    (thing.update if type(thing) is set else thing.extend)(before)
    return True


def _reclassed(kind, before):
    now = vars(kind)
    if _is_as(now, before):
        return False
    for name in [name for name in now if name not in before]:
        delattr(kind, name)
    changed = [name for name, thing in before.items() if now.get(name, _MARK) is not thing]
    for name in changed:
        setattr(kind, name, before[name])
    return bool(changed)


def _named(thing):
    is_named = type(thing) in (type, types.FunctionType)
    return f"{thing.__module__}.{thing.__qualname__}" if is_named else f"a {type(thing).__name__} of `lib`"
