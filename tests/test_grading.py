"""Grading: what comes in is read whatever its form, one bad cell costs one question, records are whole and the same."""

import io
import json
import os
import zipfile
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.exercises import QUESTIONS
from lib.grading import batch, conversation, record
from lib.grading import results as results_folder
from lib.grading.conversation import Conversation
from lib.grading.grader import judged, run, tasks
from lib.grading.jail import NO_JAIL, bubblewrap, container
from lib.grading.submissions import UnreadableError, read, submissions

ASKED = tuple(
    QUESTIONS[name] for name in ("train_flops", "chinchilla_optimal", "training_days", "model_flops_utilization")
)
SECRET = "a secret of some length"
FLOPS = "def train_flops(n_params, n_tokens):\n    return 6 * n_params * n_tokens\n"
OPTIMAL = "def chinchilla_optimal(compute):\n    n = (compute / 120) ** 0.5\n    return n, 20 * n\n"
DAYS = "def training_days(n, d, gpus, peak, mfu):\n    return 6 * n * d / (gpus * peak * mfu) / 86_400\n"
MFU = "def model_flops_utilization(n, speed, gpus, peak):\n    return 6 * n * speed / (gpus * peak)\n"
CELLS = (FLOPS, OPTIMAL, DAYS, MFU)


def notebook(*cells, **more):
    """The bytes of a notebook of code cells."""
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell, **more} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def outcomes(cells, asked=ASKED, main=True, seconds=4.0):
    """name -> (outcome, sentence) of cells that are run without a jail: they are ours."""
    wanted = tasks(asked, SECRET)
    answers = run(cells, main, [task.errand for task in wanted], "none", seconds)
    results = [judged(task, *pair) for task, pair in zip(wanted, answers, strict=True)]
    return {result.name: (result.outcome, result.sentence) for result in results}


def passed(*cells, **more):
    return sum(outcome == "passed" for outcome, _ in outcomes(cells, **more).values())


# What came in


@pytest.fixture
def handed_in(tmp_path):
    """Writes files by their names, and gives the submissions of the folder."""

    def write(files):
        for name, content in files.items():
            path = tmp_path / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return {one.student: one for one in submissions(f"{tmp_path / 'in'}")}

    return write


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ipynb", notebook(*CELLS)),
        ("a/any name (2).ipynb", notebook(*CELLS)),
        ("a/deep/within/x.py", "\n".join(CELLS).encode()),
        ("a.py", "\n".join(CELLS).replace("\n", "\r\n").encode()),
        ("a.py", b"\xef\xbb\xbf" + "\n".join(CELLS).encode()),
        ("a.py", "\n".join(CELLS).encode("utf-16")),
        ("a.ipynb", b"\xef\xbb\xbf" + notebook(*CELLS).replace(b"\\n", b"\\r\\n")),
        ("a.ipynb", notebook(*[cell.splitlines(keepends=True) for cell in CELLS])),
        ("a.ipynb", notebook(*CELLS, *CELLS)),
        ("a.IPYNB", json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in CELLS]}).encode()),
        (
            "a.ipynb",
            json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": c} for c in CELLS]}]}).encode(),
        ),
        ("a.ipynb", notebook("x = 1", *CELLS, outputs=[{"text": "x" * 5_000_000}])),
    ],
)
def test_whatever_the_form_the_code_is_read(handed_in, name, content):
    source = read(handed_in({name: content})["a"])
    assert passed(*source.cells, main=source.main) == 4


def test_of_several_files_the_one_that_defines_what_is_asked_is_graded(handed_in):
    files = {"a/aaa.ipynb": notebook("x = 1"), "a/zzz.py": FLOPS.encode(), "a/__MACOSX/b.py": FLOPS.encode()}
    assert read(handed_in(files)["a"], ["train_flops"]).file == "zzz.py"


def test_an_archive_is_read_without_being_unpacked(handed_in, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("../../up.ipynb", notebook(*CELLS))
    source = read(handed_in({"a.zip": (tmp_path / "a.zip").read_bytes()})["a"], ["train_flops"])
    assert (source.file, len(source.cells)) == ("up.ipynb", 4)
    assert not (tmp_path / "up.ipynb").exists()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.ipynb", b"{", "a.ipynb is no notebook: its JSON is damaged, line 1."),
        ("a.ipynb", b"[]", "a.ipynb is no notebook: it has no cells."),
        ("a.ipynb", notebook("x")[:-20], "damaged"),
        ("a.zip", b"PK", "a.zip is no archive"),
        ("a/readme.txt", b"", "There is no notebook and no Python file in it."),
    ],
)
def test_what_cannot_be_read_is_said(handed_in, name, content, why):
    with pytest.raises(UnreadableError, match=why):
        read(handed_in({name: content})["a"])


def squeezed(method, *names, size=400):
    """The bytes of an archive of Python files, of as many bytes each."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name in names:
            archive.writestr(name, b"#" * size)
    return packed.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_with_one_wrong_byte_is_read_or_said_to_be_damaged(handed_in, method):
    good = squeezed(method, "a.py")
    for place in range(len(good)):
        one = handed_in({"a.zip": good[:place] + bytes([good[place] ^ 255]) + good[place + 1 :]})["a"]
        with suppress(UnreadableError):
            read(one)


def test_two_names_that_look_alike_once_they_are_escaped_are_two_students(handed_in):
    assert len(handed_in({"a\nb.py": b"", "a\\x0ab.py": b"", "a\udcffb.py": b"", "a\\xffb.py": b""})) == 4


def test_all_that_archives_unpack_to_has_a_limit_together(handed_in, monkeypatch):
    monkeypatch.setattr("lib.grading.submissions.LARGEST", 10_000)
    files = {f"a/{number}.zip": squeezed(zipfile.ZIP_DEFLATED, "x.py", "y.py", size=4000) for number in range(9)}
    whole = handed_in(files)["a"]
    opened = []
    monkeypatch.setattr("lib.grading.submissions._decoded", lambda raw: opened.append(raw) or "")
    read(whole)
    assert len(opened) == 2


def test_a_notebook_of_too_many_values_is_not_parsed_and_one_of_long_outputs_is(handed_in, monkeypatch):
    monkeypatch.setattr("lib.grading.submissions.MOST_MARKS", 2000)
    swarm = b'{"cells":[' + b"[]," * 1000 + b"1]}"
    printed = notebook(*CELLS, outputs=[{"text": '1, 2, "\\\\[' * 1000}])
    found = handed_in({"a.ipynb": swarm, "b.ipynb": printed})
    with pytest.raises(UnreadableError, match="too many values"):
        read(found["a"])
    assert len(read(found["b"]).cells) == 4


# What comes back


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
raised = st.fixed_dictionaries({"how": st.sampled_from(("syntax", "raised", "timeout", "exit")) | anything})
surveys = st.fixed_dictionaries(
    {
        "kinds": anything | st.just({}),
        "faults": anything | st.dictionaries(st.just("train_flops"), anything | raised),
        "names": anything | st.lists(st.text(max_size=3)),
        "absent": anything | st.lists(st.text(max_size=3)),
    }
)


WANTED = tasks(ASKED[:1], SECRET)[0]


@settings(max_examples=150, deadline=None)
@given(answer=surveys | anything)
def test_whatever_a_submission_answers_is_an_outcome_or_malformed(answer):
    for understood in (conversation._survey, conversation._loaded, conversation._returned):
        with suppress(*conversation.MALFORMED):
            found = understood(answer)
            if understood is conversation._survey:
                about = {"kind": None, "fault": found["faults"].get("train_flops"), **found}
                assert judged(WANTED, about, []).points == 0


def test_a_jail_that_is_ended_again_and_again_is_not_started_without_end():
    kill = "import os, signal\nif train_flops: os.kill(os.getppid(), signal.SIGKILL)\n"
    starts = []
    with Conversation(NO_JAIL, [FLOPS]) as inside:
        started, inside._start = inside._start, lambda: (starts.append(1), started())
        inside.cells = [FLOPS, kill]  # what a restarted jail has
        inside._stop()
        assert [inside.load("train_flops")["ended"] for _ in range(5)] == ["crash"] * 5
    assert len(starts) == conversation.RESTARTS


def test_a_type_is_named_where_its_name_is_known_and_no_message():
    for told, said in [("numpy.float64", "numpy.float64"), ("numpy.1e9", "of its own"), ("str.1e9", "of its own")]:
        result = judged(WANTED, {"kind": "function", "fault": None}, [{"unfit": told}])
        assert said in result.sentence
        assert "1e9" not in result.sentence


# What runs


def test_magics_shell_lines_plots_widgets_and_questions_to_nobody_do_no_harm():
    noise = (
        "%matplotlib inline\n!pip install this\nimport matplotlib.pyplot as plt\nfrom ipywidgets import interact\n"
        "files = !ls\nplt.plot?\nage = int(input('How old? '))\nfig, ax = plt.subplots()\nax.plot([age], [2])",
        "%%bash\nrm -rf everything",
        "%%time\nplt.show()",
        "from checker import check\ncheck('train_flops', 1)",
        "@interact(x=(0, 9))\ndef f(x): return x",
        "display(1); get_ipython().run_line_magic('x', 'y')",
    )
    assert passed(*noise, *CELLS) == 4
    assert passed("\n".join([noise[0], *CELLS])) == 4


@pytest.mark.parametrize(
    ("bad", "outcome", "sentence"),
    [
        ("def train_flops(:\n  pass", "syntax error", "Cell 1: invalid syntax."),
        ("1 / 0", "missing function", "There is no function `train_flops`."),
        ("def trainflops(n, d): return 1", "missing function", "did you mean 'trainflops'"),
        ("train_flops = 6", "missing function", "`train_flops` is no function: a value of type int."),
        ("train_flops = 1 / 0", "missing function", "Cell 1, line 1 raised ZeroDivisionError: division by zero"),
        ("from lib.compute import train_flops", "missing function", "importing is no solution"),
        ("import time\nwhile True: time.sleep(9)", "missing function", "There is no function"),
        ("import os\nos._exit(1)", "missing function", "There is no function"),
        ("import numpy as np\ndef train_flops(n, d): return np.prod([6, n, d])", "raised", "numpy is not there"),
        ("def train_flops(n, d): return 6", "failed", "6 where"),
        ("def train_flops(n, d): return n * d", "failed", "The factor is missing"),
        ("def train_flops(n): return 6", "raised", "It raised TypeError."),
        ("def train_flops(n, d): raise NotImplementedError", "raised", "Not written yet"),
        ("import time\ndef train_flops(n, d):\n    while True: time.sleep(9)", "timeout", "Does a loop never end?"),
        ("def train_flops(n, d): return train_flops(n, d)", "raised", "It raised RecursionError."),
        ("def train_flops(n, d): return bytearray(2**40)", "memory", "more memory than there is"),
        ("import os\ndef train_flops(n, d): os.abort()", "crash", "It ended Python"),
    ],
)
def test_one_bad_cell_costs_one_question(bad, outcome, sentence):
    found = outcomes([bad, OPTIMAL, DAYS], asked=ASKED[:3], seconds=1.0)
    assert found["train_flops"][0] == outcome
    assert sentence in found["train_flops"][1]
    assert [found[name][0] for name in ("chinchilla_optimal", "training_days")] == ["passed", "passed"]


def test_all_calls_of_a_question_together_have_a_limit(monkeypatch):
    monkeypatch.setattr("lib.grading.grader.ALL_CALLS", 0.5)
    slow = "import time\ndef train_flops(n, d): return time.sleep(0.6) or 6 * n * d"
    assert outcomes([slow], asked=ASKED[:1], seconds=1.0)["train_flops"][0] == "timeout"


def test_in_a_python_file_too_a_fault_costs_the_function_that_it_is_in():
    assert passed("\n".join([FLOPS, "def chinchilla_optimal(:\n    pass\n", DAYS, MFU]), main=False) == 3


def test_hidden_cases_differ_by_secret_and_student_and_the_jail_is_told_no_answer():
    asked = QUESTIONS["training_days"]
    one, other = (tasks([asked], secret, "ada")[0] for secret in (SECRET, SECRET + "!"))
    assert one.errand != other.errand
    assert one.errand != tasks([asked], SECRET, "bob")[0].errand
    expected = {repr(case.expected) for case in one.cases}
    assert not [value for value in expected if value in json.dumps(one.errand)]


# A class


@pytest.fixture
def course(tmp_path):
    """Four submissions, one of them damaged; a results folder; and what they are graded with."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ada.py").write_text("\n".join(CELLS))
    (folder / "bob.ipynb").write_bytes(notebook(FLOPS, "def training_days(*a): return 1 / 0"))
    (folder / "carl.ipynb").write_bytes(b"{")
    (folder / "Dora Ö.py").write_text(MFU)
    made = batch.Course(assignment="four", questions=ASKED, secret=SECRET, jail="none")
    batch.prepare(f"{tmp_path / 'out'}", made)
    return submissions(f"{folder}"), tmp_path / "out", made


def written(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_every_submission_has_one_record_whole_and_explicit(course):
    found, results, made = course
    done = batch.grade(found, f"{results}", made)
    assert {student: (one.outcome, one.points) for student, one in done.items()} == {
        "ada": ("graded", 7),
        "bob": ("graded", 1),
        "carl": ("unreadable", 0),
        "Dora Ö": ("graded", 2),
    }
    assert results_folder.read_all(f"{results}") == done
    assert results_folder.read(f"{results}", "nobody") is None
    assert len(written(results)) == 5


def test_a_run_that_is_stopped_resumes_and_only_what_changed_is_graded_again(course, tmp_path):
    found, results, made = course

    def stop(made, is_new):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch.grade(found, f"{results}", made, on_record=stop)
    assert len(written(results)) == 2
    news = []
    batch.grade(found, f"{results}", made, on_record=lambda one, is_new: news.append(is_new))
    assert sorted(news) == [False, True, True, True]
    (tmp_path / "in/bob.ipynb").write_bytes(notebook(*CELLS))
    again = []
    batch.grade(found, f"{results}", made, on_record=lambda one, is_new: again.append((one.student, is_new)))
    assert [student for student, is_new in again if is_new] == ["bob"]
    assert results_folder.read(f"{results}", "bob").points == 7


class Losing(Executor):
    """Loses every second task, as a cluster does whose workers are killed."""

    def __init__(self):
        self.sent = 0

    def submit(self, function, /, *words):
        self.sent += 1
        future = Future()
        if self.sent % 2:
            future.set_exception(OSError("the worker is gone"))
        else:
            future.set_result(function(*words))
        return future


def test_any_executor_gives_the_same_records(course, tmp_path):
    found, results, made = course
    batch.grade(found, f"{results}", made)
    with ThreadPoolExecutor(2) as threads:  # processes are Dask's below
        for number, executor in enumerate((threads, Losing())):
            folder = tmp_path / f"out{number}"
            batch.prepare(f"{folder}", made)
            batch.grade(found, f"{folder}", made, executor)
            assert written(folder) == written(results)


@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("default")  # of a cluster's own making
def test_with_killed_workers_there_is_one_record_each_and_the_same(course, tmp_path):
    distributed = pytest.importorskip("distributed")
    found, results, made = course
    batch.grade(found, f"{results}", made)
    folder = tmp_path / "by-dask"
    batch.prepare(f"{folder}", made)
    local = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        distributed.LocalCluster(host="127.0.0.1", silence_logs=50, **local) as cluster,
        distributed.Client(cluster, timeout="30s") as client,
        client.get_executor() as workers,
    ):
        killed = []

        def kill(one, is_new):
            if one.outcome == "graded" and not killed:
                killed.extend(nanny.pid for nanny in cluster.workers.values())
                for pid in killed:  # all there are; their nannies start others
                    os.kill(pid, 9)

        batch.grade(found, f"{folder}", made, workers, on_record=kill)
    assert killed
    assert written(folder) == written(results)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"assignment": "other"}, "results of another assignment"),
        ({"secret": SECRET + "!"}, "results of another secret, or version of the questions"),
        ({"questions": ASKED[:1]}, "results of another secret, or version of the questions"),
    ],
)
def test_results_of_something_else_are_refused_and_kept(course, change, why):
    _, results, made = course
    before = written(results)
    with pytest.raises(ValueError, match=why):
        batch.prepare(f"{results}", batch.Course(**vars(made) | change))
    assert written(results) == before


def test_a_folder_with_other_things_in_it_is_no_results_folder(course, tmp_path):
    with pytest.raises(ValueError, match="neither empty nor a results folder"):
        batch.prepare(f"{tmp_path}", course[2])


def test_names_of_students_never_lead_outside_and_never_fall_together():
    names = ["ada", "Ada", "ADA", "../ada", "a/b", "a b", "grading", "", ".", "ö", "x" * 300, "a\nb"]
    files = [record.file_name(name) for name in names]
    assert len({file.lower() for file in files}) == len(names)
    assert not [file for file in files if "/" in file or file.startswith(".") or len(file) > 100]
    assert record.ABOUT not in files


def test_a_short_secret_is_refused(course):
    with pytest.raises(ValueError, match="at least 16 characters"):
        batch.Course(**vars(course[2]) | {"secret": "short"})


# Jails


def test_the_commands_take_away_the_network_and_what_can_be_written():
    words = bubblewrap().command(False)
    assert {"--unshare-net", "--unshare-pid", "--unshare-ipc", "--new-session", "--clearenv", "--die-with-parent"} <= {
        *words
    }
    assert "--bind" not in words
    for tool in ("podman", "docker"):
        line = " ".join(container(tool).command(False))
        assert line.startswith(f"{tool} run --rm ")
        for part in ("--network none", "--read-only", "--cap-drop ALL", "--user 65534:65534", "--pids-limit", "size="):
            assert part in line
    assert NO_JAIL.command(False)[0] != bubblewrap().command(False)[0]
