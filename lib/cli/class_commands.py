"""More of `handbook course ...`: collect submissions, join scores, tell students and the gradebook."""

import json
import os

import click

from lib.cli.run_commands import refusals

_ROSTER = click.option("--roster", metavar="FILE.CSV", help="Who is in the course.")
_PSEUDONYMS = click.option("--pseudonyms", metavar="FILE", help="A secret: records carry pseudonyms made from it.")
_DECISIONS = click.option("--decisions", metavar="FILE.TOML", help="What people decided: due, late, manual points.")
_COLLECTED = click.option("--collected", metavar="DIR", help="The folder of collect, which knows what came when.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def standing(command):
    """The options of commands that need scores."""
    for option in (_JSON, _PSEUDONYMS, _COLLECTED, _DECISIONS, _ROSTER):
        command = option(command)
    return command


@click.command()
@click.argument("downloads", metavar="DOWNLOAD...", nargs=-1, required=True)
@click.option("-o", "--output", "folder", metavar="SUBMITTED", required=True, help="The folder to write.")
@_ROSTER
@_PSEUDONYMS
@click.option("--attempts", metavar="WORD", default="latest", show_default=True, help="latest, or best: keep all.")
@click.option("--times", metavar="FILE.CSV", help="Columns student and submitted, with offsets.")
@click.option("--form", metavar="WORD", help="canvas, moodle, nbgrader or plain; found out unless said.")
@click.option("--assignment", metavar="NAME", help="Which folder, of a tree of several assignments.")
@_JSON
@click.pass_context
def collect(context, downloads, folder, roster, pseudonyms, as_json, **how):
    """Bring downloads into one folder for each student.

    Takes the archives of Canvas and Moodle, packed or unpacked, nbgrader's submitted/ tree, and a file or a folder for
    each student; give later downloads last. Exits with 1 if somebody is not on the roster; what they handed in is kept
    aside.

    \b
    handbook course collect submissions.zip -o submitted --roster roster.csv
    """
    from lib.course.collect import STRANGERS
    from lib.course.collect import collect as write

    with refusals():
        made = write(downloads, folder, roster_of(roster, pseudonyms), **how)
    if as_json:
        about = {"form": made.form, "students": made.students}
        click.echo(json.dumps(about | {"not_on_roster": made.strangers, "faults": made.faults}, indent=2))
    else:
        late = sum(bool(one["late"]) for one in made.students.values())
        click.echo(f"{len(made.students)} submissions of the form {made.form}, {late} marked as late")
    for label in made.strangers:
        click.echo(f"not on the roster: {label}: kept in {os.path.join(folder, STRANGERS)}", err=True)
    for fault in made.faults:
        click.echo(f"not taken: {fault}", err=True)
    context.exit(1 if made.strangers or made.faults else 0)


@click.command()
@click.argument("results", metavar="RESULTS")
@standing
@click.option("-o", "--output", metavar="FILE.CSV", help="Write them as CSV too.")
@click.pass_context
def scores(context, results, output, as_json, **how):
    """Join records, decisions and lateness to scores. Exits with 1 if a record's student is not on the roster.

    \b
    handbook course scores results --roster roster.csv --decisions decisions.toml --collected submitted
    """
    from lib.course.scores import scores_csv
    from lib.whole_files import write_text

    found, strangers = scores_of(results, **how)
    if output:
        write_text(output, scores_csv(found), replace=True)
    if as_json:
        click.echo(json.dumps({"scores": [one.plain for one in found], "not_on_roster": strangers}, indent=2))
    else:
        click.echo("\n".join(f"{s.student:<24}{s.points:>7g} of {s.max_points:g}  {' '.join(s.notes)}" for s in found))
    told_strangers(context, strangers)


def told_strangers(context, strangers):
    """Say who has a record and is not on the roster, and exit with 1 if there is somebody."""
    for student in strangers:
        click.echo(f"not on the roster: {student}: has a record, and no score", err=True)
    context.exit(1 if strangers else 0)


def roster_of(path, pseudonyms):
    """The roster in a file, with the secret in another; None where there is none."""
    from lib.course.roster import read_roster
    from lib.whole_files import read_text

    if path is None and pseudonyms:
        raise ValueError("--pseudonyms goes with --roster FILE.CSV")
    return None if path is None else read_roster(path, read_text(pseudonyms).strip() if pseudonyms else "")


def scores_of(results, roster, decisions, collected, pseudonyms):
    """(scores, students without a row) of a results folder, in the words of the command."""
    from lib.course.decisions import read_decisions
    from lib.course.scores import scores as join

    with refusals():
        decided = read_decisions(decisions) if decisions else None
        return join(results, decided, roster_of(roster, pseudonyms), collected)


COMMANDS = (collect, scores)
