"""The command `handbook`: parses, calls, prints. Answers go to stdout, the rest to stderr in one line.

Exit codes: 0 for an answer, 1 for a verdict that is not passed, 2 for what is refused, a file that cannot be written
among it, 130 when stopped by Ctrl-C.
"""

import re
import sys
from contextlib import contextmanager

import click

from lib.check import did_you_mean, listed, plain_name, short
from lib.cli.course_command import course
from lib.cli.fit_command import fit
from lib.cli.forecast_command import forecast, small_runs
from lib.cli.log_command import log
from lib.cli.model_command import model
from lib.cli.pilot_command import pilot
from lib.cli.recipe_command import recipe
from lib.cli.review_command import review
from lib.cli.run_commands import ladder, new_run


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
        except OSError as error:
            click.echo(f"handbook: {error.filename or 'the answer'}: {error.strerror}", err=True)
            code = 2 if error.filename else 1
        except click.Abort:
            code = 130
        sys.exit(code if isinstance(code, int) else 0)

    def get_command(self, ctx, cmd_name):
        """The command of a name, whatever its case, spaces, hyphens and underscores."""
        plain = plain_name(cmd_name)
        return next((command for name, command in self.commands.items() if plain_name(name) == plain), None)

    def resolve_command(self, ctx, args):
        """The command that the words mean, and its own words; a what-if that is called as one is shown the way."""
        word = args[0]
        if self.get_command(ctx, word) is None and not word.startswith("-"):
            from lib.whatif import catalogue  # only a slip needs it

            for name in catalogue.WHAT_IFS:
                if plain_name(name) == plain_name(word):
                    raise click.UsageError(f"{name} is a what-if: handbook what-if {' '.join([name, *args[1:]])}")
            near = did_you_mean(word[:60], self.commands)
            raise click.UsageError(f"{short(word)} is no command: one of {listed(self.commands)}{near}")
        name, command, words = super().resolve_command(ctx, args)
        return name, command, list(_tidied(command, words))


def _tidied(command, words):
    """Options as they are declared, with hyphens for underscores; one that is given twice is refused."""
    options = {name: option for option in command.params for name in option.opts if name.startswith("--")}
    seen = set()
    for word in words:
        name, equals, value = word.partition("=")
        name = name.replace("_", "-")
        if name in seen and not (options[name].is_flag or options[name].multiple):
            raise click.UsageError(f"{name}: given twice")
        seen |= options.keys() & {name}
        yield name + equals + value if name in options else word


def _one_line(error):
    message = re.sub(r"\S{80,}", lambda word: f"{word[0][:57]}...", " ".join(error.format_message().split()))
    if isinstance(error, click.NoSuchOption) and error.ctx and error.ctx.command.name == "what-if":
        setting = error.option_name.lstrip("-").replace("-", "_")[:60]
        return f"{message} Settings are written without dashes: {setting}=VALUE"
    if message.startswith("Got unexpected extra argument"):
        return f"{message}: inputs are written as options here, --name value"
    if isinstance(error, click.NoSuchOption) and error.ctx and error.ctx.parent:
        return f"{message} All are in: handbook {error.ctx.command.name} --help"
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
    with _usage_errors():
        if wants_help:
            click.echo(text.inputs_text(catalogue.find(name)))
        else:
            _print(catalogue.solve(name, _settings(settings)), as_json, explain)


@main.command()
@click.option("--tokens-per-second", metavar="SPEED", help="The figure: tokens/s of all --n-gpus, 1 unless said.")
@click.option("--tflops", metavar="NUMBER", help="The figure: TFLOP/s per GPU.")
@click.option("--mfu", metavar="FRACTION", help="The figure: model FLOPs utilization, such as 0.45 or 45%.")
@click.option("--hfu", metavar="FRACTION", help="The figure: hardware FLOPs utilization; recomputation counts.")
@click.option("--convention", metavar="NAME", help="Whose count it is: 6N, PaLM, Megatron-LM, Megatron-Bridge, ...")
@click.option("--params", metavar="WORD", help="Or its parts. N: total, without_input_table or without_tables.")
@click.option("--attention", metavar="WORD", help="Attention: none, causal or full.")
@click.option("--recompute", metavar="WORD", help="Recomputation: none, selective, full, ...")
@click.option("--model", metavar="NAME", help="A released model, such as llama-3-8b, which is the default.")
@click.option("--seq-len", metavar="TOKENS", help="Tokens in a sequence; 8192 unless said.")
@click.option("--accelerator", metavar="NAME", help="Whose peak divides; H100 SXM unless said.")
@click.option("--dtype", metavar="TYPE", default="bf16", show_default=True, help="The data type of that peak.")
@click.option("--n-gpus", metavar="NUMBER", default="1", show_default=True, help="GPUs that a speed is of.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show how each number comes about.")
def mfu(as_json, explain, convention, params, attention, recompute, **given):
    """Convert a reported speed or utilization to every convention.

    \b
    handbook mfu --tokens-per-second 13812 --model llama-3-8b --seq-len 8192
    handbook mfu --mfu 0.40 --convention palm --accelerator a100
    handbook mfu --tflops 744 --params without_input_table --attention causal
    """
    from lib.whatif import reported  # after --help, which needs none of it

    figures = {unit: given.pop(unit) for unit in reported.UNITS}
    counts = {"params": params, "attention": attention, "recompute": recompute}
    with _usage_errors():
        _print(reported.answer(figures, counts, convention, given), as_json, explain, options=given)


main.add_command(fit)


main.add_command(log)


main.add_command(model)


main.add_command(recipe)


main.add_command(new_run)


main.add_command(ladder)


main.add_command(pilot)


main.add_command(review)


main.add_command(forecast)


main.add_command(small_runs)


main.add_command(course)


@contextmanager
def _usage_errors():
    from lib.whatif.catalogue import RefusedError

    try:
        yield
    except RefusedError as refused:
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


def _print(answer, as_json, explain, **style):
    from lib.whatif import text

    click.echo(text.answer_json(answer) if as_json else text.answer_text(answer, explain, **style))
