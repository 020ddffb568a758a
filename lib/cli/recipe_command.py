"""The command `handbook recipe`: from a budget, a size or tokens to every setting of a run."""

import click


@click.command()
@click.option("--flops", metavar="NUMBER", help="Training compute, 6 N D, such as 1e22.")
@click.option("--params", metavar="NUMBER", help="Parameters, such as 7B.")
@click.option("--tokens", metavar="NUMBER", help="Tokens, such as 2T.")
@click.option("--tokens-per-param", metavar="NUMBER", help="Beside one of these three: the other; 20 unless said.")
@click.option("--n-gpus", metavar="NUMBER", help="GPUs that share the batch; 64 unless said.")
@click.option("--model-parallel", metavar="NUMBER", help="GPUs that hold one copy of the model; 1 unless said.")
@click.option("--micro-batch", metavar="NUMBER", help="Sequences that one copy reads at once; 1 unless said.")
@click.option("--seq-len", metavar="TOKENS", help="Tokens in a sequence; 4096 unless said.")
@click.option("--schedule", metavar="NAME", help="cosine, linear, wsd or 1-sqrt; cosine unless said.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, numbers in full.")
@click.option("--explain", is_flag=True, help="Show how each number comes about.")
def recipe(as_json, explain, flops, params, tokens, tokens_per_param, **others):
    """Give every setting of a run, beside the published runs nearest to it.

    \b
    handbook recipe --flops 1e22
    handbook recipe --params 7B --tokens 2T --n-gpus 512 --model-parallel 2
    handbook recipe --params 1.3B --explain
    """
    from lib.whatif import catalogue, text  # after --help, which needs none of it
    from lib.whatif.recipe import asked

    try:
        run = asked({"flops": flops, "params": params, "tokens": tokens}, tokens_per_param)
        settings = run | {name: value for name, value in others.items() if value is not None}
        answer = catalogue.solve("recipe-by-scale", settings)
    except catalogue.RefusedError as refused:
        raise click.UsageError(str(refused)) from None
    click.echo(text.answer_json(answer) if as_json else text.answer_text(answer, explain, options=others))
