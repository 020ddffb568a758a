"""The commands `handbook course ...`: hand an assignment out, grade what comes back, see which jail works."""

import json
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import click

from lib.cli import class_commands
from lib.cli.export_command import export
from lib.cli.run_commands import refusals

MOST_WORKERS = 256


@click.group(invoke_without_command=True)
@click.pass_context
def course(context):
    """Run a course with the handbook's assignments.

    The way of an assignment: release it, collect what comes back, grade it in a jail, join records and decisions to
    scores, tell students by feedback, fill the gradebook. The page "For instructors" of the book walks through it.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@course.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def doctor(context, as_json):
    """Try every jail, and say which hold. Exits with 1 if none does.

    \b
    handbook course doctor
    """
    from lib.grading.doctor import examine
    from lib.grading.jail import jails

    found = [examine(jail) for jail in jails()]
    if as_json:
        click.echo(json.dumps([vars(finding) for finding in found], indent=2))
    else:
        for finding in found:
            click.echo(f"{'yes' if finding.works else 'no':<5}{finding.jail:<12}{finding.sentence}")
    context.exit(0 if any(finding.works for finding in found) else 1)


@course.command()
@click.argument("folder", metavar="DIR")
@click.option("--assignment", metavar="NAME", required=True, help="Which, such as compute.")
def release(folder, assignment):
    """Write the folder that students get.

    It holds the notebook without solutions, a checker, the environment, a README.

    \b
    handbook course release handout --assignment compute
    """
    from lib.exercises import assignment as find
    from lib.grading.release import release as write

    with refusals():
        written = write(find(assignment), folder)
    for path in written:
        click.echo(path)


@course.command()
@click.argument("folder", metavar="SUBMISSIONS")
@click.option("-o", "--output", "results", metavar="RESULTS", required=True, help="The folder for the records.")
@click.option("--assignment", metavar="NAME", required=True, help="Which, such as compute.")
@click.option("--secret", metavar="FILE", required=True, help="A file with text that hidden inputs are drawn from.")
@click.option("--executor", metavar="WORD", default="local", show_default=True, help="local or dask.")
@click.option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster, such as tcp://10.0.0.1:8786.")
@click.option("--workers", metavar="NUMBER", help="Jails at a time; one for each core unless said.")
@click.option("--seconds", metavar="NUMBER", default="4", show_default=True, help="For one statement, and one call.")
@click.option("--jail", metavar="NAME", help="Which jail; the first that works unless said.")
@click.option("--trust-submissions", is_flag=True, help="Run without a jail: only what you would run yourself.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def grade(folder, results, assignment, as_json, **how):
    """Grade submissions in a jail, one record each.

    Run it again to resume a run that was stopped, or to grade what has changed.

    \b
    handbook course grade submitted -o results --assignment compute --secret secret.txt
    """
    from lib.exercises import assignment as find
    from lib.grading import batch
    from lib.grading.submissions import submissions

    with refusals():
        find(assignment)
        found = submissions(folder)
        workers = _whole("workers", how["workers"], os.cpu_count() or 1)
        course = _course(assignment, how)
        executor = _executor(how["executor"], how["scheduler"], workers)
        batch.prepare(results, course)
    with executor as (pool, ahead):
        done = _graded(found, results, course, pool, ahead)
    click.echo(_summary(done, as_json))


@course.command()
@click.argument("folder", metavar="SUBMISSIONS")
@click.option("-o", "--output", "results", metavar="RESULTS", required=True, help="The folder of the records.")
@click.option("--assignment", metavar="NAME", required=True, help="Which, such as compute.")
@click.option("--question", metavar="NAME", required=True, help="Which one is graded anew.")
@click.option("--secret", metavar="FILE", required=True, help="The secret that the class was graded with.")
@click.option("--workers", metavar="NUMBER", help="Jails at a time; one for each core unless said.")
@click.option("--seconds", metavar="NUMBER", default="4", show_default=True, help="For one statement, and one call.")
@click.option("--jail", metavar="NAME", help="Which jail; the first that works unless said.")
@click.option("--trust-submissions", is_flag=True, help="Run without a jail: only what you would run yourself.")
@click.option("--dry-run", is_flag=True, help="List what would change, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def regrade(folder, results, assignment, question, as_json, dry_run, **how):
    """Grade one question anew.

    After it was mended; lists the scores that change.

    \b
    handbook course regrade submitted -o results --assignment start --question run_in_time --secret secret.txt
    """
    from lib.course import regrade as again
    from lib.grading.conversation import JailError
    from lib.grading.submissions import submissions

    with refusals():
        found = submissions(folder)
        course = _course(assignment, how)
        workers = _whole("workers", how["workers"], os.cpu_count() or 1)
        try:
            with _local(workers) as (pool, ahead):
                done = again.regrade(found, results, course, question, pool, ahead)
        except JailError as error:
            raise click.ClickException(f"{error}; nothing was changed: see handbook course doctor") from None
        if not dry_run:
            again.write(results, course, done)
    if as_json:
        about = {"graded": len(done.records), "changes": [one.plain for one in done.changes]}
        click.echo(json.dumps(about | {"left_as_they_are": dict(done.left)}, indent=2))
    else:
        for one in done.changes:
            words = f"{one.before.points} -> {one.after.points}  {one.before.outcome} -> {one.after.outcome}"
            click.echo(f"{one.student:<24}{words}")
        click.echo(f"{len(done.changes)} of {len(done.records)} change{', nothing written' if dry_run else ''}")
    for student, why in done.left:
        click.echo(f"left as it is: {student}: {why}", err=True)


def _course(assignment, how):
    from lib.exercises import assignment as find
    from lib.grading import batch

    chosen = find(assignment)
    return batch.Course(
        assignment=chosen.name,
        questions=chosen.questions,
        secret=read_secret(how["secret"]),
        jail=_jail(how["jail"], how["trust_submissions"]),
        seconds=_number("seconds", how["seconds"]),
    )


def _graded(found, results, course, pool, ahead):
    from lib.grading import batch
    from lib.grading.conversation import JailError

    with click.progressbar(length=len(found), label="Grading", file=sys.stderr) as bar:
        try:
            return batch.grade(found, results, course, pool, ahead, lambda record, is_new: bar.update(1))
        except JailError as error:
            raise click.ClickException(f"{error}; what was graded before is kept: see handbook course doctor") from None
        except ValueError as error:  # a record in the folder that is none
            raise click.UsageError(f"{error}") from None


def read_secret(path):
    """The text of a secret's file.

    Args:
        path: of the file.

    Raises:
        ValueError: if there is none; it says how to make one.
    """
    from lib.whole_files import read_text

    if not os.path.exists(path):
        make = f'python -c "import secrets; print(secrets.token_hex())" > {path}'
        raise ValueError(f"--secret {path}: no such file; make one and keep it: {make}")
    return read_text(path).strip()


def _jail(name, is_trusted):
    from lib.grading.doctor import first_that_works
    from lib.grading.jail import NO_JAIL
    from lib.grading.jail import jail as find

    if is_trusted:
        return NO_JAIL.name
    if name is not None and find(name) is NO_JAIL:
        raise ValueError("--jail none: nothing would be jailed; --trust-submissions says that you want that")
    chosen = find(name).name if name is not None else first_that_works()
    if chosen is None:
        raise ValueError("no jail works here, so nothing is graded: see handbook course doctor, or --trust-submissions")
    return chosen


def _whole(option, word, default):
    if word is None:
        return default
    if not word.isdigit() or not 1 <= int(word[:9]) <= MOST_WORKERS:
        raise ValueError(f"--{option} {word[:20]}: a whole number from 1 to {MOST_WORKERS}")
    return int(word)


def _number(option, word):
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"--{option} {word[:20]}: a number") from None


def _executor(word, scheduler, workers):
    if word not in ("local", "dask"):
        raise ValueError(f"--executor {word[:20]}: local or dask")
    if (word == "dask") != (scheduler is not None):
        raise ValueError("--executor dask goes with --scheduler ADDRESS")
    return _local(workers) if word == "local" else _dask(scheduler)


@contextmanager
def _local(workers):
    with ThreadPoolExecutor(workers) as pool:  # a worker waits for its jail: threads are enough
        yield pool, 2 * workers


@contextmanager
def _dask(scheduler):
    try:
        from distributed import Client
    except ImportError:
        raise click.UsageError("--executor dask: install dask[distributed]") from None
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError):
        raise click.UsageError(f"--scheduler {scheduler[:60]}: no Dask scheduler answers there") from None
    with client, client.get_executor() as pool:
        yield pool, 2 * sum(client.nthreads().values()) + 2


def _summary(done, as_json):
    asked = Counter((one.name, one.outcome) for record in done.values() for one in record.questions)
    names = dict.fromkeys(one.name for record in done.values() for one in record.questions)
    outcomes = {name: {key[1]: n for key, n in sorted(asked.items()) if key[0] == name} for name in names}
    unreadable = sorted(student for student, record in done.items() if record.outcome == "unreadable")
    if as_json:
        points = {student: record.points for student, record in sorted(done.items())}
        plain = {"graded": len(done), "unreadable": unreadable, "points": points, "questions": outcomes}
        return json.dumps(plain, indent=2)
    lines = [f"{len(done)} graded, {len(unreadable)} of them could not be read{_listed(unreadable)}"]
    for name, counts in outcomes.items():
        lines.append(f"  {name:<28}" + ", ".join(f"{outcome} {n}" for outcome, n in counts.items()))
    return "\n".join(lines)


def _listed(students):
    more = f", and {len(students) - 5} more" if len(students) > 5 else ""
    return f": {', '.join(students[:5])}{more}" if students else ""


for _command in (*class_commands.COMMANDS, export):
    course.add_command(_command)
