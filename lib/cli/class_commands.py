"""More of `handbook course ...`: collect submissions, join scores, tell students and the gradebook."""

import json
import os

import click

from lib import check
from lib.cli.run_commands import refusals

_ROSTER = click.option("--roster", metavar="FILE.CSV", help="Who is in the course.")
_PSEUDONYMS = click.option("--pseudonyms", metavar="FILE", help="A secret: records carry pseudonyms made from it.")
_DECISIONS = click.option("--decisions", metavar="FILE.TOML", help="What people decided: due, late, manual points.")
_COLLECTED = click.option("--collected", metavar="DIR", help="The folder of collect, which knows what came when.")
_SECTION = click.option("--section", metavar="NAME", help="Only students of this section of the roster.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def standing(command):
    """The options of commands that need scores."""
    for option in (_JSON, _PSEUDONYMS, _SECTION, _COLLECTED, _DECISIONS, _ROSTER):
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
    """Join records and decisions to scores.

    Exits with 1 if a record's student is not on the roster.

    \b
    handbook course scores results --roster roster.csv --decisions decisions.toml --collected submitted
    """
    from lib.course.sheet import scores_csv
    from lib.whole_files import write_text

    found, strangers = scores_of(results, **how)
    if output:
        write_text(output, scores_csv(found), replace=True)
    if as_json:
        click.echo(json.dumps({"scores": [one.plain for one in found], "not_on_roster": strangers}, indent=2))
    else:
        click.echo("\n".join(f"{s.student:<24}{s.points:>7g} of {s.max_points:g}  {' '.join(s.notes)}" for s in found))
    told_strangers(context, strangers)


@click.command()
@click.argument("results", metavar="RESULTS")
@click.option("-o", "--output", "folder", metavar="DIR", required=True, help="The folder for the pages.")
@standing
@click.pass_context
def feedback(context, results, folder, as_json, **how):
    """Write a page for each student.

    HTML and Markdown: each question, the verdict, a hint where it is not right; nothing that is hidden.

    \b
    handbook course feedback results -o feedback --decisions decisions.toml
    """
    from lib.course.feedback import write_feedback

    found, strangers = scores_of(results, **how)
    with refusals():
        paths = write_feedback(folder, _title(results), found)
    click.echo(json.dumps({"files": paths, "not_on_roster": strangers}, indent=2) if as_json else "\n".join(paths))
    told_strangers(context, strangers)


@click.command()
@click.argument("results", metavar="RESULTS")
@click.argument("export", metavar="EXPORT.CSV")
@click.option("-o", "--output", metavar="FILE.CSV", required=True, help="The filled gradebook; not the export itself.")
@click.option("--column", metavar="NAME", help="Which, or the number in brackets behind its name.")
@click.option("--scale", is_flag=True, help="Convert points where the gradebook has another maximum.")
@standing
@click.pass_context
def gradebook(context, results, export, output, column, scale, as_json, **how):
    """Fill scores into an exported gradebook.

    Of Canvas or Moodle; its ids and all other cells stay as they are. Exits with 1 if somebody with a score has no row.
    Who is on the roster and handed nothing in has 0 points, unless a record is nobody's, which may be theirs.

    \b
    handbook course gradebook results export.csv -o filled.csv --roster roster.csv --column 4711
    """
    from lib.course.gradebook import fill
    from lib.course.page import visible
    from lib.whole_files import write_text

    found, strangers = scores_of(results, **how)
    with refusals():
        if os.path.exists(output) and os.path.samefile(export, output):
            raise ValueError(f"{output}: the export itself: give another name, so that it stays")
        sure = [one for one in found if not strangers or one.record or one.points]
        filled = fill(export, sure, roster_of(how["roster"], how["pseudonyms"]), column, scale)
    write_text(output, filled.text, replace=True)
    if as_json:
        names = ("form", "column", "filled", "kept", "without_row", "without_score")
        click.echo(json.dumps({name: getattr(filled, name) for name in names}, indent=2))
    else:
        click.echo(f"{output}: {len(filled.filled)} scores in {filled.column!r}")
    for student, cell in filled.kept:
        click.echo(f"left as it is: {student}: {cell}", err=True)
    for student in filled.without_row:
        click.echo(f"not in the gradebook: {student}", err=True)
    for student in filled.without_score:
        click.echo(f"without a score: {visible(student)}", err=True)  # a name that they gave themselves
    if filled.without_row and how["roster"] is None:
        click.echo("whose row is whose: --roster FILE.CSV says it, where the records do not", err=True)
    told_strangers(context, strangers)
    context.exit(1 if filled.without_row else 0)


@click.command()
@click.argument("results", metavar="RESULTS")
@click.option("-o", "--output", metavar="FILE.HTML", help="Write a page with a chart too.")
@_JSON
def items(results, output, as_json):
    """Tell how a class did, by question.

    The share that is right, and the wrong answers grouped by mistake.

    \b
    handbook course items results -o items.html
    """
    from lib.course import items as statistics
    from lib.course.scores import about
    from lib.grading.results import read_all
    from lib.whole_files import write_text

    with refusals():
        about(results)
        found = statistics.items(read_all(results))
    if not found:
        raise click.UsageError(f"{results}: no records in it yet")
    if output:
        write_text(output, statistics.items_page(_title(results), found), replace=True)
    if as_json:
        click.echo(json.dumps([one.plain for one in found], indent=2))
        return
    for one in found:
        click.echo(f"{one.share:>5.0%}  {one.name} ({one.right} of {one.n})")
        for group in one.wrong:
            click.echo(f"         {group.n:>4}  {group.what}")


@click.command()
@click.argument("folder", metavar="SUBMISSIONS")
@click.option("--assignment", metavar="NAME", required=True, help="Whose starter code does not count.")
@click.option("--share", metavar="FRACTION", default=0.5, show_default=True, help="Of the shorter one, shared.")
@click.option(
    "--common", metavar="NUMBER", default=10, show_default=True, help="What more students have is not counted."
)
@_JSON
def similar(folder, assignment, share, common, as_json):
    """List submissions that are much alike.

    For a person to read: it is no proof.

    \b
    handbook course similar submitted --assignment start
    """
    from lib.course.similar import NOT_PROOF, similar_submissions

    with refusals():
        pairs, left = similar_submissions(folder, assignment, share, common)
    if as_json:
        about = {"what_it_is_not": NOT_PROOF, "not_read": left}
        click.echo(json.dumps(about | {"pairs": [vars(pair) for pair in pairs]}, indent=2))
        return
    for pair in pairs:
        same = ", the same file" if pair.same_file else ""
        click.echo(f"{pair.share:>5.0%}  {pair.first}  {pair.second}  ({pair.shared} fingerprints{same})")
    click.echo(f"{len(pairs)} pairs. {NOT_PROOF}", err=True)
    for student in left:
        click.echo(f"not read: {student}", err=True)


@click.command()
@click.argument("student", metavar="STUDENT")
@click.argument("places", metavar="DIR|SCORES.CSV...", nargs=-1, required=True)
@_ROSTER
@_PSEUDONYMS
@_JSON
def forget(student, places, roster, pseudonyms, as_json):
    """Remove what was made of a student.

    Submissions, records, feedback, rows of scores; then it says what it cannot reach.

    \b
    handbook course forget ada submitted results feedback scores.csv
    """
    from lib.course.forget import forget as remove

    with refusals():
        done = remove(student, places, roster_of(roster, pseudonyms))
    if as_json:
        click.echo(json.dumps({"removed": done.removed, "not_removed": done.beyond}, indent=2))
        return
    for path in done.removed:
        click.echo(f"removed: {path}")
    for words in done.beyond:
        click.echo(f"not removed: {words}")


def _title(results):
    from lib.course.scores import about
    from lib.exercises import ASSIGNMENTS

    name = about(results)["assignment"]
    return ASSIGNMENTS[name].title if name in ASSIGNMENTS else name


def told_strangers(context, strangers):
    """Say who has a record and is not on the roster, and exit with 1 if there is somebody."""
    for student in strangers:
        click.echo(f"not on the roster: {student}: has a record, and no score", err=True)
    if strangers:
        context.exit(1)


def roster_of(path, pseudonyms):
    """The roster in a file, with the secret in another; None where there is none."""
    from lib.course.roster import read_roster
    from lib.whole_files import read_text

    if path is None and pseudonyms:
        raise ValueError("--pseudonyms goes with --roster FILE.CSV")
    return None if path is None else read_roster(path, read_text(pseudonyms).strip() if pseudonyms else "")


def scores_of(results, roster, decisions, collected, pseudonyms, section):
    """(scores, students without a row) of a results folder, in the words of the command."""
    from lib.course.decisions import Late, read_decisions
    from lib.course.scores import scores as join

    with refusals():
        decided = read_decisions(decisions) if decisions else None
        found, strangers = join(results, decided, roster_of(roster, pseudonyms), collected)
        if decided and not collected and (decided.due or decided.extensions or decided.late != Late()):
            raise ValueError(f"{decisions}: due times or a price of lateness: --collected DIR says what came when")
        sections = {one.section for one in found}
        if section is not None and section not in sections:
            raise ValueError(f"--section {section}: one of {check.listed(sorted(sections))}")
        return [one for one in found if section in (None, one.section)], strangers


COMMANDS = (collect, scores, feedback, gradebook, items, similar, forget)
