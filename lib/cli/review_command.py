"""The command `handbook review`: ten items, each missing, stated or verified; all verified, or exit code 1."""

import json
import os
from textwrap import wrap

import click

from lib.cli.run_commands import refusals

_IN = " " * 14


@click.command()
@click.argument("path", metavar="[REVIEW.TOML]", default="review.toml")
@click.option("--evidence", metavar="FILE.JSON", help="What was measured.")
@click.option("--new", "run_path", metavar="RUN.TOML", help="Write an empty review of this run instead.")
@click.option("--markdown", metavar="FILE.MD", help="Write the review as Markdown, to be signed.")
@click.option("--html", metavar="FILE.HTML", help="Write it as a page, to be signed.")
@click.option("--replace", is_flag=True, help="Write over files that are there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def review(context, path, evidence, run_path, markdown, html, replace, as_json):
    """Review whether a run may start. Exits with 1 unless every item is verified by evidence.

    \b
    handbook review review.toml --new run.toml
    handbook review review.toml --evidence evidence.json --html review.html
    """
    if run_path is not None:
        _write_empty(path, run_path, replace)
        return
    from lib import readiness

    with refusals():
        _refuse_taken([file for file in (markdown, html) if file is not None], replace)
        found = _reviewed(path, evidence)
    for file, text in ((markdown, readiness.to_markdown), (html, readiness.to_html)):
        if file is not None:
            _write(file, text(found), replace)
    click.echo(_json(found) if as_json else _text(found))
    context.exit(0 if found.ready else 1)


def _reviewed(path, evidence):
    from lib import description, ladder, readiness

    run_path, statements = readiness.read(path)
    return readiness.review(description.read(run_path), statements, None if evidence is None else ladder.read(evidence))


def _refuse_taken(files, replace):
    """Before either is written: both or neither."""
    if len({os.path.realpath(file) for file in files}) < len(files):
        raise ValueError(f"html = {files[1]!r}: another file than --markdown")
    for file in files:
        if os.path.isdir(file) or not os.path.isdir(os.path.dirname(os.path.abspath(file))):
            raise ValueError(f"{file}: cannot be written: it is a folder, or in none")
        if os.path.lexists(file) and not replace:
            raise ValueError(f"{file}: there is such a file; --replace writes over it")


def _write_empty(path, run_path, replace):
    from lib import description, readiness

    with refusals():
        run = description.read(run_path)
        beside = os.path.relpath(run_path, os.path.dirname(os.path.abspath(path)))
        text = readiness.template(run, beside)
    _write(path, text, replace)


def _write(path, text, replace):
    from lib.whole_files import write_text

    try:
        write_text(path, text, replace)
    except FileExistsError:
        raise click.UsageError(f"{path}: there is such a file; --replace writes over it") from None
    click.echo(f"{path}: written", err=True)


def _text(found):
    lines = [found.text, f"Run description {found.run.digest}."]
    for number, one in enumerate(found.states, 1):
        lines += ["", f"{number:>2}  {one.state.upper():<8}  {one.item.label}"]
        lines += [line for why in one.reasons for line in wrap(why, 80, initial_indent=_IN, subsequent_indent=_IN)]
    return "\n".join(lines)


def _json(found):
    items = [
        {"key": one.item.key, "label": one.item.label, "state": one.state, "reasons": list(one.reasons)}
        for one in found.states
    ]
    plain = {"ready": found.ready, "run_digest": found.run.digest, "items": items}
    return json.dumps(plain, indent=2, allow_nan=False, ensure_ascii=False)
