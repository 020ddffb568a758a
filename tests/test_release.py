"""What students get: it grades as it should, runs with Python alone, and holds no solution, hidden check or seed."""

import base64
import json
import re
import subprocess
import sys
import types
import zlib
from functools import cache

import pytest

from lib.exercises import ASSIGNMENTS, case, cases, trying, verdict
from lib.exercises.masters import master
from lib.grading import release
from lib.grading.grader import judged, run, tasks

SECRET = "a secret of some length"
PARTS = list(ASSIGNMENTS.values())


def code(cells):
    return [text for kind, text in cells if kind == "code"]


def outcomes(cells, assignment, jail):
    wanted = tasks(assignment.questions, SECRET)
    answers = run(cells, True, [task.errand for task in wanted], jail)
    return {task.question.name: judged(task, *pair).outcome for task, pair in zip(wanted, answers, strict=True)}


@pytest.fixture(scope="module", params=PARTS, ids=[part.name for part in PARTS])
def part(request):
    return request.param


def test_the_master_with_its_solutions_passes_and_what_is_handed_out_does_not(part, jail):
    solved, handed_out = code(release.master_cells(master(part))), code(release.student_cells(master(part)))
    assert set(outcomes(solved, part, jail).values()) == {"passed"}
    assert set(outcomes(handed_out, part, jail).values()) <= {"raised", "failed"}


# Nothing that gives an answer away


@cache
def secrets_of(part):
    """Text that must not be handed out: lines of solutions, hidden checks, the seed, hidden inputs, values."""
    found = {SECRET, "HIDDEN TESTS", "hidden=True", "BEGIN SOLUTION", "HANDBOOK_SEED", ".require()"}
    handed_out = "\n".join(text for _, text in release.student_cells(master(part)))
    for task in tasks(part.questions, SECRET):
        question = task.question
        if question.kind == "value":
            value = cases(question)[0].expected
            found |= {f"{question.name} = {value!r}", *([repr(value)] if digits(value) > 4 else [])}
            continue
        lines = {line.strip() for line in question.body.splitlines()}
        found |= {line for line in lines if len(line) > 20 and line not in handed_out}
        seen = json.dumps([case.plain for case in task.cases if case.visible])
        hidden = [value for case in task.cases if not case.visible for value in case.inputs.values()]
        found |= {repr(value) for value in hidden if digits(value) > 8 and repr(value) not in seen}
    return found


def digits(value):
    """How many digits a number has besides zeros at its ends; rounder ones stand in many places by chance."""
    return len(re.sub(r"\D", "", repr(value)).strip("0")) if isinstance(value, int | float) else len(repr(value))


def encodings(text):
    """The text as it is, and as somebody might hide it."""
    raw = text.encode()
    yield raw
    yield raw[::-1]
    yield raw.hex().encode()
    yield text.encode("utf-16-le")
    yield text.translate(_ROT13).encode()
    for lead in range(3):  # whatever stands before it in the same run
        yield base64.b64encode(b"x" * lead + raw)[4 if lead else 0 : -4]


_ROT13 = {ord(a): ord(b) for a, b in zip("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm", strict=True)}


released = cache(release.files)


def packed(raw):
    """Whatever in the bytes unpacks: compressed streams, as they are or written as base64 or hexadecimal."""
    runs = re.findall(rb"[A-Za-z0-9+/=_-]{24,}", raw)
    blobs = [raw, *filter(None, map(_unwritten, runs))]
    for blob in blobs:
        for start in re.finditer(rb"x[\x01\x5e\x9c\xda]|\x1f\x8b", blob):
            unpacked = _inflated(blob[start.start() :])
            if unpacked:
                yield unpacked
        yield blob


def _unwritten(run):
    try:
        return bytes.fromhex(run.decode()) if re.fullmatch(rb"[0-9a-f]+", run) else base64.b64decode(run + b"==")
    except ValueError:
        return None


def _inflated(blob):
    try:
        return zlib.decompressobj(wbits=47).decompress(blob, 1_000_000)
    except zlib.error:
        return b""


def told(files, needles):
    """The needles that are in the files, in any of the encodings."""
    raw = "\n".join(files.values()).encode()
    plain = json.loads(next(text for name, text in files.items() if name.endswith(".ipynb")))
    raw += "\n".join("".join(cell["source"]) for cell in plain["cells"]).encode()
    hay = b"\n".join(packed(raw))
    return {needle for needle in needles if any(form in hay for form in encodings(needle))}


def test_no_solution_hidden_check_or_seed_is_handed_out(part):
    needles = secrets_of(part)
    assert len(needles) > 12
    assert told(released(part), needles) == set()


@pytest.mark.parametrize(
    "hide",
    [
        lambda text: text,
        lambda text: text[::-1],
        lambda text: text.encode().hex(),
        lambda text: base64.b64encode(f"xy{text} and more".encode()).decode(),
        lambda text: base64.b64encode(zlib.compress(f"{text} and more".encode())).decode(),
        lambda text: zlib.compress(text.encode()).hex(),
    ],
)
def test_a_leak_would_be_seen(part, hide):
    needles, files = secrets_of(part), released(part)
    assert told(files | {"README.md": files["README.md"] + hide(max(needles))}, needles)


# The checker


@pytest.fixture(scope="module")
def folder(part, tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / part.name
    release.release(part, f"{path}")
    return path


def alone(folder, program):
    """What a program prints in a Python that sees the folder and no package."""
    head = "import sys; sys.path.insert(0, '.')\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", head + program],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_notebook_runs_with_python_alone_and_the_checker_tells_right_from_wrong(part, folder):
    handed_out = code(release.student_cells(master(part)))
    solutions = code(release.master_cells(master(part)))[1:]
    solved = "\n".join(cell.replace("hidden=True", "") for cell in solutions if ".require" not in cell)
    names = [asked.name for asked in part.questions if asked.kind != "value" and not asked.allows_lib]
    solved = "\n".join(re.findall(r"(?ms)^def .*?### END SOLUTION$", solved))
    asks = f"\nfor name in {names}: print(name, check(name, globals()[name]).ok)\n"
    stubs = "\n".join(cell for cell in handed_out if not cell.startswith("check("))
    before = alone(folder, stubs + asks).split("\n")
    after = alone(folder, "from checker import check\n" + solved + asks).split("\n")
    assert [line for line in before if line] == [f"{name} False" for name in names]
    assert [line for line in after if line] == [f"{name} True" for name in names]


def test_no_module_that_the_checker_is_made_of_hides_a_name_of_another():
    made = [
        {
            name
            for name, thing in vars(module).items()
            if getattr(thing, "__module__", module.__name__) == module.__name__
        }
        for module in (case, verdict, trying)
    ]
    names = [name for found in made for name in found if not name.startswith("__")]
    shared = {name for name in names if names.count(name) > 1}
    assert len(names) > 40
    assert all(isinstance(getattr(trying, name, None), types.ModuleType) for name in shared), shared


def test_a_folder_with_something_in_it_is_not_written_over(part, folder):
    with pytest.raises(ValueError, match="not empty"):
        release.release(part, f"{folder}")
