"""The run directory: one folder with everything that a run left."""

import dataclasses
import datetime
import itertools
import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from tfaccel.config import Config
from tfaccel.errors import UsageError
from tfaccel.host import Host


@dataclasses.dataclass(frozen=True)
class RunDir:
    """Where each thing lies in a run's folder."""

    root: Path

    @classmethod
    def create(cls, config: Config, recipe: str) -> "RunDir":
        """Make the folder: `config.out`, or one named by recipe, date and time.

        Raises:
            UsageError: it holds something already, or cannot be written.
        """
        try:
            root = config.out or _new(Path("runs") / recipe)
            root.mkdir(parents=True, exist_ok=True)
            if any(root.iterdir()):
                raise UsageError(f"{root} is not empty; choose another folder with --out.")
            (root / "checkpoints").mkdir()
        except (OSError, ValueError) as error:  # ValueError: a null byte in the name
            why = getattr(error, "strerror", None) or error
            raise UsageError(
                f"Cannot write the run directory {config.out or 'runs'}: {why}; "
                "choose another folder with --out."
            ) from None
        return cls(root)

    def discard(self) -> None:
        """Remove the folder and all that the run has written there."""
        shutil.rmtree(self.root, ignore_errors=True)

    def describe(self, config: Config, module: str, host: Host, classes: Sequence[str]) -> None:
        """Write down what is run, how to run it again, and on which machine."""
        (self.root / "classes.txt").write_text("".join(f"{name}\n" for name in classes))
        command = ["python", "-m", module]
        again = f"# {shlex.join([*command, '--config'])} config.toml\n"
        (self.root / "command.txt").write_text(shlex.join([*command, *config.to_flags()]) + "\n")
        (self.root / "config.toml").write_text(again + config.to_toml())
        (self.root / "host.json").write_text(json.dumps(dataclasses.asdict(host), indent=1) + "\n")

    @property
    def log(self) -> Path:
        """What was printed."""
        return self.root / "log.txt"

    @property
    def measurement(self) -> Path:
        """The measurement, as JSON."""
        return self.root / "measurement.json"

    @property
    def metrics(self) -> Path:
        """A line an epoch, as CSV."""
        return self.root / "metrics.csv"

    @property
    def tensorboard(self) -> Path:
        """The folder for `tensorboard --logdir`."""
        return self.root / "tensorboard"

    @property
    def best(self) -> Path:
        """The model of the best epoch so far."""
        return self.root / "checkpoints" / "best.keras"

    @property
    def model(self) -> Path:
        """The trained model, as Keras saves it."""
        return self.root / "model.keras"


def _new(parent: Path) -> Path:
    """Make a folder named by date and time; with a number where another run was as quick."""
    now = f"{datetime.datetime.now().astimezone():%Y-%m-%d_%H-%M-%S}"
    for name in itertools.chain([now], (f"{now}_{i}" for i in itertools.count(2))):
        try:
            (parent / name).mkdir(parents=True)
        except FileExistsError:
            if not parent.is_dir():
                raise
        else:
            return parent / name
    raise AssertionError("the numbers do not end")
