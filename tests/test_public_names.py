"""The public names: few, all there, all documented."""

import ast
import inspect
from pathlib import Path

import tfaccel


def test_all_names_exist_and_are_documented():
    assert len(tfaccel.__all__) >= 10
    for name in tfaccel.__all__:
        assert inspect.getdoc(getattr(tfaccel, name)), name


def test_all_is_what_the_stub_says():
    stub = ast.parse(Path(tfaccel.__file__).with_suffix(".pyi").read_text())
    imported = [
        a.asname for node in stub.body if isinstance(node, ast.ImportFrom) for a in node.names
    ]
    assert sorted(imported) == sorted(tfaccel.__all__)


def test_every_public_object_stays_what_it_is_after_its_modules_are_imported():
    import tfaccel.data.dataset
    import tfaccel.training

    assert inspect.isfunction(tfaccel.train)
    assert inspect.isfunction(tfaccel.open_source)
