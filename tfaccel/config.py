"""A run's options: defaults, then a TOML file, then the command line."""

import sys
import tomllib
from pathlib import Path
from typing import Any, Self

import pydantic
import tomli_w

from tfaccel.errors import UsageError, unknown


class Options(pydantic.BaseModel):
    """Named values of known types that never change; what is not known is refused."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **values: Any) -> None:
        """Check the values.

        Raises:
            UsageError: a name is unknown, or a value is not of its type or range.
        """
        try:
            super().__init__(**values)
        except pydantic.ValidationError as error:
            raise UsageError(_sentence(type(self), error)) from None


class Config(Options):
    """Options of every recipe. A recipe subclasses this once, to add and re-default."""

    data: str = pydantic.Field(
        "fashion_mnist", description="fashion_mnist (bundled), or a folder of images"
    )
    batch_size: int = pydantic.Field(256, ge=1, description="examples per update, over all devices")
    epochs: int = pydantic.Field(1, ge=1, description="passes over the training images")
    seed: int = pydantic.Field(
        0, ge=0, lt=2**31, description="seed of the weights, the order and the augmentation"
    )
    deterministic: bool = pydantic.Field(
        False, description="the same loss curve to the bit for the same seed; may cost speed"
    )
    accelerate: tuple[str, ...] = pydantic.Field(
        ("none",),
        description="techniques, each NAME or NAME:OPTION=VALUE,..., as `tfaccel techniques` lists "
        "them; none is plain Keras",
    )
    out: Path | None = pydantic.Field(
        None, description="run directory; by default runs/RECIPE/DATE-TIME"
    )
    quiet: bool = pydantic.Field(False, description="print nothing but errors")

    @classmethod
    def parse(cls, argv: list[str] | None = None, *, prog: str | None = None) -> Self:
        """Read `--config FILE.toml` and the flags; a flag wins over the file.

        Ends the process with a message where a flag is wrong, and after `--help`.

        Args:
            argv: the words of the command line; those of this process if None.
            prog: the command's name in `--help`.

        Raises:
            UsageError: the file cannot be read, or a value is out of range.
        """
        import tyro

        words, file = _take_config_flag(sys.argv[1:] if argv is None else argv)
        doc = (cls.__doc__ or "") + (
            "\n\n--config FILE.toml sets options from a file, such as a preset or the "
            "config.toml of an earlier run; flags win over it."
        )
        default = cls.load(file) if file else cls()
        return tyro.cli(cls, prog=prog, description=doc, args=words, default=default)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a TOML file of options.

        A table `[techniques.NAME]` of options stands for a word of `accelerate`.

        Raises:
            UsageError: the file is missing or is not TOML, or an option is unknown.
        """
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise UsageError(f"Cannot read the config {path}: {error.strerror}.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"The config {path} is not valid TOML: {error}.") from None
        if "techniques" in values:
            if "accelerate" in values:
                raise UsageError(f"{path} has accelerate and [techniques]; give one of them.")
            values["accelerate"] = _words(values.pop("techniques"), path)
        return cls(**values)

    def to_toml(self) -> str:
        """Return the options, but for the place of the run, as TOML that `load` reads back."""
        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True, exclude={"out"}))

    def to_flags(self) -> list[str]:
        """Return the flags that give these options, without those at their defaults.

        >>> Config(epochs=3, quiet=True, accelerate=("xla",)).to_flags()
        ['--epochs', '3', '--accelerate', 'xla', '--quiet']
        """
        flags: list[str] = []
        for name, field in type(self).model_fields.items():
            value, flag = getattr(self, name), "--" + name.replace("_", "-")
            if value == field.default:
                continue
            if isinstance(value, bool):
                flags.append(flag if value else flag.replace("--", "--no-", 1))
            else:
                values = value if isinstance(value, tuple) else (value,)
                flags += [flag, *map(str, values)]
        return flags


def _words(tables: Any, path: Path) -> list[str]:
    """Return the command-line form of tables of techniques.

    >>> _words({"xla": {}, "mixed_precision": {"dtype": "float16"}}, Path("a.toml"))
    ['xla', 'mixed_precision:dtype=float16']
    """
    words = []
    named: dict[str, Any] = tables if isinstance(tables, dict) else {"NAME": None}
    for name, options in named.items():
        values = options.values() if isinstance(options, dict) else [[]]
        if any(isinstance(value, dict | list) for value in values):
            raise UsageError(
                f"In {path}, techniques should be tables [techniques.{name}] of values."
            )
        pairs = ",".join(f"{key}={value}" for key, value in options.items())
        words.append(f"{name}:{pairs}" if pairs else name)
    return words


def _take_config_flag(words: list[str]) -> tuple[list[str], Path | None]:
    """Split `--config FILE` off the other words; the last one given counts."""
    rest, file, words = [], None, list(words)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if name != "--config":
            rest.append(word)
        elif equals or words:
            file = Path(value if equals else words.pop(0))
        else:
            raise UsageError("--config needs the path of a TOML file after it.")
    return rest, file


def _sentence(kind: type[Options], error: pydantic.ValidationError) -> str:
    """Say in words what pydantic found wrong first."""
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return str(unknown(f"option of {kind.__name__}", name, kind.model_fields))
    wrong = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{kind.__name__}: {name} is {first['input']!r}, but it {wrong}."
