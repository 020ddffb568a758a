"""Runs in Pyodide while the bundle is built: packs the Python that a page needs, compiled beforehand.

A reader's browser would otherwise fetch a standard library that is mostly never imported, and compile the rest of it
from source at every first touch: 1.6 of the 2.6 seconds that a start took.
"""

import ast
import importlib
import importlib.util
import marshal
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

_UNCHECKED_HASH = (1).to_bytes(4, "little") + bytes(8)  # the loader takes the bytecode without looking for a source
_NO_DATE = (1980, 1, 1, 0, 0, 0)  # the same input gives the same bytes


def pack(root, stdlib, lib_target, stdlib_target):
    """Write two zips: what of `lib` the page's worker reaches, with all data; what of the standard library that needs.

    Args:
        root: the folder that holds `lib`.
        stdlib: Pyodide's own zip of the standard library.
        lib_target, stdlib_target: the zips to write.

    Returns:
        How many modules of the standard library it compiled; their bytecode is added to `stdlib`.
    """
    sys.path.insert(0, root)
    dict(importlib.import_module("lib.whatif.page").catalogue.WHAT_IFS)  # each is imported when it is asked for
    importlib.import_module("lib.exercises.page")
    _import_deferred()
    modules = {Path(module.__file__) for module in _loaded("lib")}
    files = sorted(modules | set(Path(root).rglob("*.toml")))
    _write(lib_target, [(str(path.relative_to(root)), path.read_bytes()) for path in files], optimize=0)
    with zipfile.ZipFile(stdlib) as whole:
        names = sorted(_from_zip() & set(whole.namelist()))
        _write(stdlib_target, [(name, whole.read(name)) for name in names], optimize=2)  # without docstrings
    return _add(stdlib_target, stdlib)


def _add(packed, whole):
    """Add what is new of a zip to another."""
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(whole, "a") as target:
        new = set(source.namelist()) - set(target.namelist())
        for name in sorted(new):
            target.writestr(zipfile.ZipInfo(name, _NO_DATE), source.read(name), zipfile.ZIP_DEFLATED, compresslevel=9)
    return len(new)


def _import_deferred():
    """Import what functions of `lib` import only when they are called, and so on from there."""
    done = set()
    while todo := [module for module in _loaded("lib") if module.__name__ not in done]:
        for module in todo:
            done.add(module.__name__)
            for name in _imports(ast.parse(Path(module.__file__).read_text())):
                with suppress(ModuleNotFoundError):  # a display, an array library: a page has none
                    importlib.import_module(name)


def _imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # a module, or else not found


def _loaded(package):
    return [m for name, m in sorted(sys.modules.items()) if name.split(".")[0] == package]


def _from_zip():
    """The standard library's files in use, as they are named in its zip."""
    origins = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    return {origin.split(".zip/", 1)[1] for origin in origins if ".zip/" in origin}


def _write(target, files, optimize):
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files:
            if name.endswith(".py"):
                code = compile(data, name, "exec", dont_inherit=True, optimize=optimize)
                name, data = f"{name}c", importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + marshal.dumps(code)
            archive.writestr(zipfile.ZipInfo(name, _NO_DATE), data)  # as it is: the zip is compressed as a whole
