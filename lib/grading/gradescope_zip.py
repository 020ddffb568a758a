"""An autograder for Gradescope: a zip with setup.sh, run_autograder, and what grades.

Gradescope runs a container for each submission, as root and with a network. There the right answers lie in a folder
that root alone may enter, and the submission runs as another user. `LOST` says what that does not hold.

Source: gradescope-autograders.readthedocs.io/en/latest/specs/ (what the zip holds, where it is unpacked) and
best_practices/ ("Run your autograder as a non-root user").
"""

import io
import json
import zipfile

from lib import check
from lib.exercises import Assignment
from lib.grading.batch import refuse_short
from lib.grading.jail import LIBRARY
from lib.whole_files import write_bytes

LOST = (
    "No jail: on Gradescope a submission runs as another user of the container that grades it, with its network and "
    "its readable files, so it can send away the inputs it is called with; `handbook course grade` lets nothing out."
)
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same zip from the same handbook
_PYTHON = """python=
for name in python3 python3.11 python3.12 python3.13 python3.14; do
  if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$name && break; fi
done
"""
_SETUP = f"""#!/usr/bin/env bash
# {LOST}
# Gradescope runs this once, as root, while it builds the container.
set -eu
root="${{AUTOGRADER_ROOT:-/autograder}}"
{_PYTHON}if [ -z "$python" ]; then apt-get update && apt-get install -y python3.11; fi
mkdir -m 700 "$root/private"  # fresh: whoever is not root cannot enter, whatever the files' own modes are
mv "$root/source/private/"* "$root/private/"
rmdir "$root/source/private"
"""
_RUN = f"""#!/usr/bin/env bash
# {LOST}
# Gradescope runs this for each submission; it writes results/results.json.
set -eu
root="${{AUTOGRADER_ROOT:-/autograder}}"
{_PYTHON}if [ -z "$python" ]; then echo "no Python 3.11 or newer is here: choose another base image" >&2; exit 1; fi
start='import sys; sys.path.insert(0, sys.argv[1] + "/private")
from lib.grading.on_gradescope import main; main(sys.argv[1])'
exec "$python" -I -B -X utf8 -c "$start" "$root"
"""
_README = f"""{LOST}

On Gradescope, under *Configure Autograder*: upload this zip, and try it with a submission of your own.
It needs Python 3.11 or newer: choose a base image that has it, such as Ubuntu 24.04; elsewhere setup.sh asks apt.
Keep it to yourself: it holds the secret from which hidden inputs are drawn, and the handbook with all solutions.
"""


def export(assignment, secret, path):
    """Write the zip, whole or not at all.

    Args:
        assignment: an `Assignment`.
        secret: text that nobody else knows; hidden inputs are drawn from it, for each student others.
        path: where to; there must be no such file yet.

    Raises:
        FileExistsError: if there is a file of that name.
    """
    check.text(path=path)
    write_bytes(path, packed(files(assignment, secret)))


def files(assignment, secret):
    """The files of the zip: bytes by name.

    Args:
        assignment: an `Assignment`.
        secret: text.

    Raises:
        ValueError: for a secret that is too short, and for questions that allow `lib`.

    >>> from lib.exercises import assignment
    >>> list(files(assignment("start"), "a secret of some length"))[:3]
    ['README.md', 'setup.sh', 'run_autograder']
    """
    check.instance(Assignment, assignment=assignment)
    if any(question.allows_lib for question in assignment.questions):
        raise ValueError(f"{assignment.name}: a question allows `lib`, which on Gradescope all of them would find")
    refuse_short(secret)
    course = json.dumps({"assignment": assignment.name, "secret": secret}) + "\n"
    made = {"README.md": _README, "setup.sh": _SETUP, "run_autograder": _RUN, "private/course.json": course}
    made = {name: text.encode() for name, text in made.items()}
    return made | {f"private/lib/{path.relative_to(LIBRARY)}": path.read_bytes() for path in _library()}


def _library():
    paths = [path for pattern in ("*.py", "data/**/*") for path in LIBRARY.rglob(pattern)]
    return sorted(path for path in set(paths) if path.is_file() and "__pycache__" not in path.parts)


def packed(made):
    """A zip's bytes, the same for the same files.

    Args:
        made: bytes by name.

    >>> packed({"a": b"1"}) == packed({"a": b"1"})
    True
    """
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in made.items():
            about = zipfile.ZipInfo(name, _EARLIEST)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = (0o100755 if name in ("setup.sh", "run_autograder") else 0o100644) << 16
            archive.writestr(about, data)
    return whole.getvalue()
