"""The command `handbook`: parses, calls, prints. Answers go to stdout, the rest to stderr in one line.

Exit codes: 0 for an answer, 2 for refused input, 130 when stopped by Ctrl-C.
"""

import sys

import click

from lib.check import plain_name


class OneLine(click.Group):
    """A command group whose refusals take one line, so that a script can show them as they are."""

    def main(self, args=None, prog_name=None, complete_var=None, standalone_mode=True, **extra):
        """Run the command; as `click.Group.main`, with shorter last words."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a character still gets the rest
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            click.echo(f"handbook: {_one_line(error)}", err=True)
            code = error.exit_code
        except click.Abort:
            code = 130
        sys.exit(code if isinstance(code, int) else 0)

    def get_command(self, ctx, cmd_name):
        """The command of a name, whatever its case, spaces, hyphens and underscores."""
        plain = plain_name(cmd_name)
        return next((command for name, command in self.commands.items() if plain_name(name) == plain), None)


def _one_line(error):
    message = " ".join(error.format_message().split())
    if isinstance(error, click.NoSuchOption) and error.ctx and error.ctx.command.name == "what-if":
        setting = error.option_name.lstrip("-").replace("-", "_")
        return f"{message} Settings are written without dashes: {setting}=VALUE"
    return message


@click.group(cls=OneLine, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def main(context, version):
    """Plan a language-model training run: the handbook's answers on the command line."""
    if version:
        from importlib.metadata import version as installed  # slow to import, seldom asked for

        click.echo(f"handbook {installed('training-run-handbook')}")
    elif context.invoked_subcommand is None:
        click.echo(context.get_help())


@main.command("what-if", add_help_option=False)
@click.argument("name", required=False)
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show how each number comes about.")
@click.option("-h", "--help", "wants_help", is_flag=True, help="Show this message, or the inputs of NAME, and exit.")
@click.pass_context
def what_if(context, name, settings, as_json, explain, wants_help):
    """Answer a planning question; without a name, list them.

    \b
    handbook what-if
    handbook what-if days-and-mfu --help
    handbook what-if days-and-mfu n_gpus=256 days="2 weeks" mfu=0.4
    """
    if wants_help and name is None:
        click.echo(context.get_help())
        return
    from lib.whatif import catalogue, text  # after --help, which needs neither

    if name is None:
        listing = text.catalogue_json if as_json else text.catalogue_text
        click.echo(listing(catalogue.WHAT_IFS.values()))
        return
    try:
        if wants_help:
            click.echo(text.inputs_text(catalogue.find(name)))
        else:
            _print(catalogue.solve(name, _settings(settings)), as_json, explain)
    except catalogue.RefusedError as refused:
        raise click.UsageError(str(refused)) from None


def _settings(texts):
    settings = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{text[:60]!r}: settings are written KEY=VALUE, such as n_gpus=128")
        if key in settings:
            raise click.UsageError(f"{key[:60]}: given twice")
        settings[key] = value
    return settings


def _print(answer, as_json, explain):
    from lib.whatif import text

    click.echo(text.answer_json(answer) if as_json else text.answer_text(answer, explain=explain))
