"""The `tfaccel` command: what there is, and how to run it."""

import importlib
import runpy
import sys
from functools import partial
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

import tfaccel
from tfaccel.errors import UsageError


def recipes() -> None:
    """List the recipes, with the command that runs each."""
    from tfaccel import recipes

    table = _table("recipe", "what it trains", "command")
    for name in recipes.names():
        doc = importlib.import_module(f"tfaccel.recipes.{name}").__doc__ or ""
        table.add_row(name, doc.splitlines()[0], f"python -m tfaccel.recipes.{name}")
    Console().print(table)


def techniques() -> None:
    """List the techniques: options, what each does to the numbers, and whether it runs here."""
    from tfaccel import techniques
    from tfaccel.host import Host, prepare

    prepare()
    host = Host.here()
    table = _table("technique", "numbers", "what it does")
    for name in techniques.names():
        kind = techniques.find(name)
        technique = kind()
        lines = [(kind.__doc__ or "").splitlines()[0]]
        lines += [
            f"{option}={getattr(technique, option)}: {field.description}"
            for option, field in kind.model_fields.items()
        ]
        if why := technique.unavailable(host):
            lines.append(f"cannot run here: {why}")
        else:
            lines.append(technique.caution(host) or "can run here")
        table.add_row(name, kind.numbers, "\n".join(lines))
    Console().print(table)
    Console().print("Numbers: what a technique does to those of plain Keras.", style="dim")


def train(recipe: Annotated[str, tyro.conf.Positional]) -> None:
    """Run a recipe with its options; the same as python -m tfaccel.recipes.RECIPE.

    Args:
        recipe: its name, as `tfaccel recipes` lists it, then its own options.
    """
    _train(recipe, [])


def compare(recipe: Annotated[str, tyro.conf.Positional]) -> None:
    """Measure plans side by side on a recipe; `tfaccel compare RECIPE --help` says how.

    Args:
        recipe: its name, as `tfaccel recipes` lists it, then the options.
    """
    _compare(recipe, [])


def main() -> None:
    """Run one subcommand."""
    try:
        match sys.argv[1:]:
            case ["train", str(recipe), *options] if not recipe.startswith("-"):
                _train(recipe, options)
            case ["compare", str(recipe), *options] if not recipe.startswith("-"):
                _compare(recipe, options)
            case _:
                commands = {f.__name__: f for f in (recipes, techniques, train, compare)}
                tyro.extras.subcommand_cli_from_dict(
                    commands, prog="tfaccel", description=tfaccel.__doc__
                )
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


def _train(name: str, options: list[str]) -> None:
    from tfaccel import recipes

    recipes.check(name)
    sys.argv = [name, *options]
    runpy.run_module(f"tfaccel.recipes.{name}", run_name="__main__", alter_sys=True)


def _compare(name: str, words: list[str]) -> None:
    from tfaccel import recipes
    from tfaccel.comparing.command import CompareOptions, compare_and_print

    kind, job = recipes.find(name)
    prog = f"tfaccel compare {name}"
    options, rest = tyro.cli(CompareOptions, args=words, prog=prog, return_unknown_args=True)
    config = kind.parse(rest, prog=prog)
    plain = config.model_copy(update={"accelerate": ("none",)})
    work = " ".join([name, *plain.to_flags()])
    sys.exit(compare_and_print(options, partial(job, config), work, config.accelerate))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    first, *others = columns
    table.add_column(first, no_wrap=True)
    for column in others:
        table.add_column(column, overflow="fold")
    return table


if __name__ == "__main__":
    main()
