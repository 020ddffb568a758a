"""The results folder: a file for each student's record, written whole or not at all."""

import json
from pathlib import Path

from lib import check
from lib.grading.record import ABOUT, Record, file_name
from lib.whole_files import read_text, refuse_depth, write_text


def write(folder, record):
    """Write a record, whole or not at all.

    Args:
        folder: of the results; must exist.
        record: a `Record`.
    """
    check.instance(Record, record=record)
    text = json.dumps(record.plain, indent=1, ensure_ascii=True) + "\n"
    write_text(f"{Path(folder) / file_name(record.student)}", text, replace=True)


def read(folder, student):
    """The record of a student, or None where there is none.

    Args:
        folder: of the results.
        student: as the record has it.

    Raises:
        ValueError: for a file that is no record.
    """
    path = Path(folder) / file_name(student)
    return _read(path) if path.exists() else None


def read_all(folder):
    """All records of a results folder, by student.

    Args:
        folder: of the results.

    Raises:
        ValueError: for a file that is no record.
    """
    paths = sorted(path for path in Path(folder).glob("*.json") if path.name != ABOUT)
    return {record.student: record for record in map(_read, paths)}


def _read(path):
    text = read_text(f"{path}")
    refuse_depth(text)
    try:
        return Record.of(json.loads(text))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: no record of a submission: {error}") from None
