"""Stand-ins for what draws or talks to a notebook: they take everything and do nothing."""

import sys
import types
from importlib.machinery import ModuleSpec

# The last one is the checker that a released assignment has beside it.
DISPLAYS = {"matplotlib", "ipywidgets", "IPython", "seaborn", "plotly", "altair", "bokeh", "google", "tqdm", "checker"}


def install(space):
    """Let the names of a notebook be there for its cells.

    Args:
        space: the cells' own names; `display` and `get_ipython` are put into it.
    """
    sys.meta_path.append(_Displays())
    space.update(display=Mute(), get_ipython=Mute(), exit=_leave, quit=_leave)


def _leave(*about):
    raise SystemExit


class Mute:
    """Takes everything, gives itself, says nothing.

    >>> Mute().subplots(2, figsize=(8, 3)).anything
    <...Mute object at ...>
    """

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        return self

    def __call__(self, *args, **kwargs):
        alone = len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType)
        return args[0] if alone else self  # as a decorator it leaves the function as it is

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *about):
        return False

    def __iter__(self):
        return iter((self, self))  # figure, axes = subplots()


class _Displays:
    """Finds the modules that are not there and would draw."""

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self, is_package=True) if name.split(".")[0] in DISPLAYS else None

    def create_module(self, spec):
        return _Stand(spec.name)

    def exec_module(self, module):
        pass


class _Stand(types.ModuleType):
    __all__ = ()

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        return Mute()
