"""Chapters run again when `lib` changed: a page must never show a number that today's code would not give.

Jupyter Book keeps the results of chapters whose own text is unchanged. Here the kept results lie in a folder named
after a hash of everything that a chapter's code calls, and every page is read anew when that hash is another one.
"""

import hashlib
import shutil
from pathlib import Path

KEPT = 3  # folders of results, the latest: going back to an earlier state of `lib` costs nothing


def digest(root, *names):
    """A short hash of files and folders below root: names and contents, in a stable order."""
    found = hashlib.sha256()
    for name in names:
        for path in sorted([root / name, *(root / name).rglob("*")]):
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


def calculation(root):
    """The hash of what a chapter's numbers depend on besides its own text."""
    return digest(root, "lib", "requirements.lock")


def appearance(root):
    """The hash of what shapes a page besides its text: extensions, settings, the scripts that it names by a hash."""
    scripts = (path.relative_to(root).as_posix() for path in (root / "book/live").glob("*.*"))
    return digest(root, "book/_ext", "_config.yml", *sorted(name for name in scripts if ".test." not in name))


def kept_results(root):
    """The folder of the results of this `lib`."""
    folder = root / "_build/cache" / calculation(root)
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    return str(folder)


def drop_oldest(root):
    """Only the latest results stay. Whoever runs chapters calls this, and nobody else at the same time."""
    for old in sorted((root / "_build/cache").iterdir(), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old)


def keep_results_apart(app, config):
    """Look for results in the folder of this `lib` alone."""
    config.nb_execution_cache_path = kept_results(Path(app.srcdir))


def outdated(app, env, added, changed, removed):
    """All pages, when what they are made with is not what it was."""
    root = Path(app.srcdir)
    now = calculation(root) + appearance(root)
    before, env.handbook_made_with = getattr(env, "handbook_made_with", None), now
    return env.found_docs if before != now else []


def setup(app):
    app.connect("config-inited", keep_results_apart)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
