"""The commands `handbook course export ...`: an assignment for a system where a course lives already."""

import click

from lib.cli.run_commands import refusals

_ASSIGNMENT = click.option("--assignment", metavar="NAME", required=True, help="Which, such as compute.")


@click.group(invoke_without_command=True)
@click.pass_context
def export(context):
    """Export an assignment to nbgrader or Gradescope.

    Each says in its first line which isolation is lost there.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@export.command()
@click.argument("folder", metavar="DIR")
@_ASSIGNMENT
def nbgrader(folder, assignment):
    """Write a source tree for nbgrader.

    There one kernel runs the submission and its checks: nothing is held apart.

    \b
    handbook course export nbgrader course --assignment compute
    """
    from lib.exercises import assignment as find
    from lib.grading import nbgrader_tree

    with refusals():
        written = nbgrader_tree.export(find(assignment), folder)
    click.echo("\n".join([nbgrader_tree.LOST, *written]))


@export.command()
@click.argument("path", metavar="FILE.zip")
@_ASSIGNMENT
@click.option("--secret", metavar="FILE", required=True, help="A file with text that hidden inputs are drawn from.")
def gradescope(path, assignment, secret):
    """Write an autograder's zip for Gradescope.

    There a submission runs as another user of the container that grades it.

    \b
    handbook course export gradescope autograder.zip --assignment compute --secret secret.txt
    """
    from lib.cli.course_command import read_secret
    from lib.exercises import assignment as find
    from lib.grading import gradescope_zip

    with refusals():
        gradescope_zip.export(find(assignment), read_secret(secret), path)
    click.echo("\n".join([gradescope_zip.LOST, path]))
