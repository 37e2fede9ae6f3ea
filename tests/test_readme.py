"""The README: its Python runs, and its figures are those of the stored results."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


TRAIN, *COMPARE = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_python_in_the_readme_trains(capsys):
    exec(compile(TRAIN, "README.md", "exec"), {})
    assert re.search(r"[\d,]+ examples/s, .* ms a step", capsys.readouterr().out)


@pytest.mark.slow
def test_the_python_in_the_readme_compares(capsys):
    names = {}
    exec(compile(TRAIN, "README.md", "exec"), names)
    for block in COMPARE:
        exec(compile(block, "README.md", "exec"), names)
    assert re.search(r"steps=8: \d\.\d\d times as fast \(.* to .*\), ", capsys.readouterr().out)


def test_the_figures_in_the_readme_are_the_stored_ones():
    stored = json.loads((ROOT / "recipes/mobilenet/results/default.json").read_text())
    assert len(stored["runs"]) >= 3
    accuracy, seconds = stored["median_test_accuracy"], stored["median_wall_s"]
    assert f"**{accuracy:.1%}** in **{seconds:.0f} seconds**" in README.replace("\n", " ")


def test_every_file_the_readme_links_to_exists():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
