"""Times of grading. Each function gives (what, value, target, unit) as it is measured."""

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib.exercises import assignment
from lib.exercises.masters import master
from lib.grading import batch, release
from lib.grading.doctor import first_that_works
from lib.grading.submissions import submissions

ASSIGNMENT = "memory"  # six questions
CLASS = 500


def grading():
    """One submission of six questions on one core, and a class on two."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hand_in(folder / "submitted", CLASS)
        alone = timed(folder, 20, 1) / 20
        yield "a submission of six questions graded, in a jail", alone, 1, "s"
        yield f"{CLASS} submissions on two cores", timed(folder, CLASS, 2), 300, "s"


def hand_in(folder, number):
    """Notebooks with the solutions of an assignment, as a class would hand them in."""
    folder.mkdir()
    text = release.notebook(release.master_cells(master(assignment(ASSIGNMENT))))
    for one in range(number):
        (folder / f"student{one}.ipynb").write_text(text, encoding="utf-8")


def timed(folder, number, workers):
    """Seconds for the first submissions of a folder."""
    jail = first_that_works()
    questions = assignment(ASSIGNMENT).questions
    course = batch.Course(assignment=ASSIGNMENT, questions=questions, secret="s" * 16, jail=jail)
    results = f"{folder / f'results{number}'}"
    batch.prepare(results, course)
    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        done = batch.grade(submissions(f"{folder / 'submitted'}")[:number], results, course, pool, 2 * workers)
    assert all(record.points == record.max_points for record in done.values())
    return time.perf_counter() - started
