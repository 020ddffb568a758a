"""Hostile submissions, each graded in a jail beside honest ones: no points, nothing outside changed, no neighbour hurt.

All are graded in one batch, several at a time, as a class is. Without a jail that holds, this module is skipped and
says so; in a forge that is an error.
"""

import io
import json
import os
import socket
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lib.exercises import QUESTIONS
from lib.grading import batch
from lib.grading.grader import judged, run, tasks
from lib.grading.jail import PROGRAM
from lib.grading.submissions import submissions

ASKED = (QUESTIONS["train_flops"], QUESTIONS["training_days"])
SECRET = "what nobody else knows"
SECONDS = 1.5
HONEST = """
def train_flops(n_params, n_tokens):
    return 6 * n_params * n_tokens

def training_days(n_params, n_tokens, n_gpus, peak_flops, mfu):
    return 6 * n_params * n_tokens / (n_gpus * peak_flops * mfu) / 86_400
"""
# In each, OUTSIDE is a folder with a file `kept`, PORT a door that is open on this machine, ROOT the repository. What
# is indented is the body of `train_flops(n_params, n_tokens)`.
PROGRAMS = {
    "imports_the_answer": "from lib.compute import train_flops",
    "imports_it_by_its_path": "import sys; sys.path.insert(0, 'ROOT')\nfrom lib.compute import train_flops",
    "looks_for_the_answer": """
    import os, runpy
    for top in ("/grading", "/allowed", "/work", "/home", "/opt", "/srv", "/usr/local", "ROOT"):
        for folder, _, files in os.walk(top):
            if "four_functions.py" in files:
                return runpy.run_path(folder + "/four_functions.py")["train_flops"](n_params, n_tokens)
    """,
    "reads_a_file_outside": "    return float(open('OUTSIDE/kept').read())",
    "reads_passwords": "    return open('/etc/passwd').read()",
    "writes_outside": "    open('OUTSIDE/new', 'w').write('x')",
    "changes_a_file_outside": "    open('OUTSIDE/kept', 'w').write('x')",
    "removes_what_is_outside": "import shutil\nshutil.rmtree('OUTSIDE', ignore_errors=True)",
    "writes_over_the_program": "import jailed.values as v\nopen(v.__file__, 'w').write('')",
    "asks_the_network": "    import socket\n    return float(socket.create_connection(('127.0.0.1', PORT), 1).recv(9))",
    "asks_a_host": "    from urllib.request import urlopen\n    return urlopen('http://example.org', timeout=1).read()",
    "is_a_fork_bomb": "    import os\n    while True:\n        os.fork()",
    "is_a_fork_bomb_that_catches": """
    import os
    for _ in range(300):
        try:
            os.fork()
        except OSError:
            pass
    """,
    "is_a_thread_bomb": "    from threading import Timer\n    while True: Timer(9, print).start()",
    "takes_6_gib": "    return len(bytearray(6 * 2**30))",
    "takes_memory_bit_by_bit": "    kept = []\n    while True: kept.append(bytearray(2**22))",
    "leaves_in_a_cell": "import os\nos._exit(0)\n" + HONEST.replace("6 *", "7 *"),
    "leaves_in_a_call": "    import os\n    os._exit(0)",
    "exits": "    raise SystemExit(0)",
    "interrupts": "    raise KeyboardInterrupt",
    "never_ends_and_blocks_signals": """
    import signal
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
    while True:
        pass
    """,
    "sleeps": "    import time\n    time.sleep(10_000)",
    "patches_builtins": """
import builtins, math, operator
builtins.isinstance = builtins.hasattr = builtins.all = builtins.callable = lambda *a: True
builtins.abs = builtins.float = builtins.type = lambda *a: 0
math.isclose = operator.eq = operator.le = lambda *a, **k: True

def train_flops(n_params, n_tokens):
    return 1.0
""",
    "equals_everything": """
    class Equal:
        __eq__ = __le__ = __lt__ = __ge__ = __gt__ = __bool__ = lambda *a: True
        __sub__ = __rsub__ = __abs__ = __float__ = lambda *a: 0.0
        __hash__ = lambda self: 1
    return Equal()
    """,
    "is_a_float_of_its_own": """
    class Float(float):
        __eq__ = lambda *a: True
        __sub__ = __rsub__ = lambda *a: 0.0
    return Float(6 * n_params * n_tokens)
    """,
    "is_a_text_of_its_own": "    class Text(str): __eq__ = lambda *a: True\n    return Text('x')",
    "is_not_a_number": "    return float('nan')",
    "is_infinite": "    return float('inf')",
    "is_a_huge_number": "    return 10 ** 100_000",
    "is_a_number_beyond_floats": "    return 10 ** 390",
    "steals_frames": """
    import sys
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if "expected" in str(value): return value["expected"]
        frame = frame.f_back
    """,
    "searches_memory": """
    import gc
    return [one for one in gc.get_objects() if isinstance(one, dict) and "expected" in one][0]["expected"]
    """,
    "reads_proc": """
    import glob
    found = b""
    for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/maps"):
        try:
            found += open(path, "rb").read()
        except OSError:
            pass
    return "SECRET" in str(found) or "OUTSIDE" in str(found)
    """,
    "kills_everybody": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "kills_the_warden": "    import os, signal\n    os.kill(os.getppid(), signal.SIGKILL)",
    "stops_the_warden_of_its_parent": "    import os, signal\n    os.kill(1, signal.SIGSTOP); os._exit(1)",
    "links": "    import os\n    os.symlink('OUTSIDE/kept', '/tmp/link')\n    return float(open('/tmp/link').read())",
    "returns_a_pickle": "    import pickle\n    return pickle.dumps({'value': 6 * n_params * n_tokens})",
    "returns_what_unpickles": "    class Bad:\n        __reduce__ = lambda self: (print, ('x',))\n    return Bad()",
    "writes_a_result": """
    import json, os
    for folder in ("/tmp", ".", "OUTSIDE", "/grading"):
        for name in ("result.json", "results.json", "writes_a_result.json", "grading.json"):
            try:
                with open(os.path.join(folder, name), "w") as file:
                    json.dump({"value": 6.0, "outcome": "passed", "points": 9}, file)
            except OSError:
                pass
    """,
    "answers_on_every_pipe": """
    import os
    for number in range(1, 64):
        try:
            os.write(number, b'{"value": 6.0, "ok": true, "outcome": "passed", "points": 9}' + bytes([10]))
        except OSError:
            pass
    os._exit(0)
    """,
    "answers_ahead": """
import os
for number in range(3, 64):
    try:
        os.write(number, b'{"kinds": {"train_flops": "function"}, "faults": {}, "names": [], "absent": []}')
        os.write(number, bytes([10]))
    except OSError:
        pass
""",
    "answers_nested_without_end": """
import os
for number in range(3, 64):
    try:
        os.write(number, b"[" * 60_000 + bytes([10]))
    except OSError:
        pass
""",
    "answers_in_another_shape": """
import os
for number in range(3, 64):
    try:
        os.write(number, b'{"kinds": [], "faults": [], "names": 1, "absent": null}' + bytes([10]))
    except OSError:
        pass
""",
    "names_a_type_after_the_inputs": """
    return type("x", (), {"__module__": "numpy.", "__qualname__": f"{n_params!r}_{n_tokens!r}"})()
    """,
    "floods_its_output": "    for _ in range(20): print('x' * 1_000_000)",
    "floods_a_pipe": "    import os\n    while True:\n        os.write(7, b'x' * 65536); os.write(6, b'x' * 65536)",
    "floods_the_disk": """
    import os
    kept = []
    for number in range(1000):
        kept.append(open(f"/tmp/{number}", "wb"))
        kept[-1].write(bytes(2**22))
    """,
    "nests_lists": "    value = []\n    for _ in range(100_000): value = [value]\n    return value",
    "is_a_circle": "    value = []\n    value.append(value)\n    return value",
    "returns_a_million": "    return [0.0] * 1_000_000",
    "recurses_without_end": "    import sys\n    sys.setrecursionlimit(10**9)\n    return train_flops(1, 1)",
    "patches_json": """
import json
json.dumps = json.JSONEncoder.encode = lambda *a, **k: '{"value": 6.0}'

def train_flops(*a):
    return 1.0
""",
    "patches_the_program": """
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("jailed"):
        for key in list(vars(module)):
            if not key.startswith("__"):
                setattr(module, key, lambda *a, **k: '{"value": 6.0}')
""",
    "uses_ctypes": "    import ctypes\n    return float(ctypes.CDLL(None).getuid())",
    "reads_a_device": "    return open('/dev/zero', 'rb').read()",
    "raises_its_limits": """
    import resource
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
        resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)
    """,
    "becomes_root": "    import os\n    os.setuid(0)\n    return 6.0",
    "mounts_a_namespace": "    import os\n    os.unshare(0x10000000)\n    return 6.0",
    "tells_the_inputs": """
    print("inputs", n_params, n_tokens)
    raise type(f"Inputs_{n_params!r}_{n_tokens!r}", (ValueError,), {})(f"{n_params!r} {n_tokens!r}")
    """,
    "returns_the_inputs": "    return f'{n_params!r} {n_tokens!r}'",
    "is_a_million_empty_lines": "\n" * 300_000 + "def train_flops(:",
    "is_a_million_spaces": " " * 900_000 + "= !def train_flops(:",
    "is_a_million_decorators": "@\n" * 100_000,
    "adds_without_end": "train_flops = 1" + "+1" * 400_000,
    "negates_without_end": "train_flops = " + "-" * 900_000 + "1",
    "reaches_without_end": "train_flops = a" + ".a" * 400_000,
    "is_null_bytes": "def train_flops(a, b):\0 return 6 * a * b",
    "nests_brackets": "train_flops = " + "(" * 5000 + "1" + ")" * 5000,
}


def program(body):
    """The text of a submission: a body is put into the function that is asked for."""
    return f"def train_flops(n_params, n_tokens):\n{body.lstrip(chr(10))}\n" if body.lstrip("\n")[:1] == " " else body


def archive(files):
    """The bytes of a zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, text in files.items():
            zipped.writestr(name, text)
    return packed.getvalue()


FILES = {
    "zip_bomb.zip": lambda: archive({"a.py": b"#" * 6_300_000}),
    "zip_of_bombs.zip": lambda: archive({f"{number}.py": b"#" * 4_500_000 for number in range(9)}),
    "zip_full_of_names.zip": lambda: archive({f"{number:0200}.txt": b"" for number in range(5000)}),
    "climbs.zip": lambda: archive({"../../../../OUTSIDE/climbed.py": "train_flops = 6", "/etc/climbed.py": "x = 1"}),
    "broken.zip": lambda: archive({"a.py": HONEST})[:-40],
    "nested.ipynb": lambda: b"[" * 1_000_000,
    "nested_cells.ipynb": lambda: b'{"cells":' * 100_000,
    "huge_source.ipynb": lambda: json.dumps({"cells": [{"cell_type": "code", "source": "x" * 2_000_000}]}).encode(),
    "%2e%2e%2fresults.py": lambda: b"train_flops = 6",
    "grading.py": lambda: b"train_flops = 6",
    'quote" and\nline.py': lambda: b"train_flops = 6",
}
HOSTILE = [
    *PROGRAMS,
    *(name.rsplit(".", 1)[0].replace("\n", "\\x0a") for name in FILES),
    "linked_to_honest",
    "linked_folder",
    "pipe",
]


def tree(folder):
    """Everything in a folder: kind, owner, mode and content."""
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_uid, path.read_bytes() if path.is_file() else None)
        for path in [folder, *sorted(folder.rglob("*"))]
    }


def children():
    """Processes that this one has started and that are still there."""
    found = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return {number for numbers in found for number in numbers}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, jail, monkeypatch):
    """The records of hostile and honest submissions, by student; what is outside is compared before and after."""
    monkeypatch.setattr("lib.grading.submissions.LARGEST", 6_000_000)  # a small bomb does
    place = tmp_path_factory.mktemp("course")
    outside, handed_in, results = place / "outside", place / "submitted", place / "results"
    outside.mkdir()
    handed_in.mkdir()
    (outside / "kept").write_text("6.0")
    with socket.create_server(("127.0.0.1", 0)) as door:
        words = {"OUTSIDE": f"{outside}", "PORT": f"{door.getsockname()[1]}", "ROOT": f"{PROGRAM.parent.parent.parent}"}
        hand_in(handed_in, words)
        before, running = (tree(outside), tree(handed_in), tree(PROGRAM)), children()
        course = batch.Course(assignment="four", questions=ASKED, secret=SECRET, jail=jail, seconds=SECONDS)
        batch.prepare(f"{results}", course)
        with ThreadPoolExecutor(4) as pool:
            records = batch.grade(submissions(f"{handed_in}"), f"{results}", course, pool)
    assert (tree(outside), tree(handed_in), tree(PROGRAM)) == before
    assert children() <= running
    assert {path.name for path in place.iterdir()} == {"outside", "submitted", "results"}
    assert len(list(results.iterdir())) == len(records) + 1
    return records


@pytest.fixture(scope="module")
def monkeypatch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def hand_in(folder, words):
    for name, body in PROGRAMS.items():
        text = program(body)
        for word, value in words.items():
            text = text.replace(word, value)
        (folder / f"{name}.py").write_text(text)
    for name, content in FILES.items():
        (folder / name).write_bytes(content())
    for name in ("a_first", "m_middle", "z_last"):
        (folder / f"honest_{name}.py").write_text(HONEST)
    (folder / "linked_to_honest.py").symlink_to(folder / "honest_a_first.py")
    (folder / "linked_folder").symlink_to(Path(words["OUTSIDE"]))
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe/answer.ipynb")


def test_there_are_more_than_the_thirty_two_that_were_asked_for():
    assert len(HOSTILE) >= 32


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_submission_gains_nothing(graded, name):
    asked = graded[name].questions[0]
    assert (asked.name, asked.points) == ("train_flops", 0), asked
    assert graded[name].points == 0


@pytest.mark.parametrize("name", ["a_first", "m_middle", "z_last"])
def test_an_honest_neighbour_has_all_points(graded, name):
    record = graded[f"honest_{name}"]
    assert record.points == record.max_points == 3


def test_every_submission_has_its_record(graded):
    assert len(graded) == len(HOSTILE) + 3


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("imports_the_answer", "missing function"),
        ("never_ends_and_blocks_signals", "timeout"),
        ("sleeps", "timeout"),
        ("takes_6_gib", "memory"),
        ("leaves_in_a_call", "crash"),
        ("is_a_fork_bomb", "raised"),
        ("is_not_a_number", "failed"),
        ("is_null_bytes", "syntax error"),
        ("zip_bomb", "unreadable"),
        ("pipe", "unreadable"),
    ],
)
def test_the_outcome_says_what_happened(graded, name, outcome):
    assert graded[name].questions[0].outcome == outcome


def test_where_lib_may_be_used_the_questions_are_not_in_it(jail):
    asked = next(question for question in QUESTIONS.values() if question.allows_lib)
    wanted = tasks([asked], SECRET)
    tries = [
        "import lib.units",
        f"from lib.exercises import question\n{asked.name} = question({asked.name!r}).solution",
        "from lib.grading import grader",
    ]
    (about, answers), *_ = run(tries, True, [task.errand for task in wanted], jail)
    assert about["absent"] == []  # `lib` is there
    assert about["fault"]["text"] == "name 'question' is not defined"  # and its questions are not
    assert judged(wanted[0], about, answers).points == 0


def test_no_hidden_input_is_told(graded):
    hidden = [case for task in tasks(ASKED, SECRET, "tells_the_inputs") for case in task.cases if not case.visible]
    told = json.dumps([record.plain for record in graded.values()])
    visible = {1e9, 2e10, 2e9, 1e8, 1e15, 1e14}
    drawn = {repr(value) for case in hidden for value in case.inputs.values() if value not in visible and value > 1e6}
    assert len(drawn) > 8
    assert not [value for value in drawn if value in told]


def test_the_cells_of_one_question_cannot_spoil_another(graded):
    spoiled = graded["leaves_in_a_cell"].questions
    assert [one.outcome for one in spoiled] == ["failed", "failed"]  # wrong on purpose, and run all the same
