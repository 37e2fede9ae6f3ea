"""Compiling on first use, with what can be wrong with compilers and folders."""

import platform
import re
import subprocess
import sys
import textwrap

import pytest
import tensorflow as tf

from tfaccel.native import build
from tfaccel.native.build import UnavailableError, load
from tfaccel.native.cache import kept

# Fast to compile, and enough to see whether it was loaded.
SOURCE = 'extern "C" int planted = 1;'

LOAD = """
from pathlib import Path
from tfaccel.native import build
build.FOLDER = Path({folder!r})
print(build.load("tiny", lambda ops: None))
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Hold a folder with one source, an empty cache, and a compiler that counts its runs."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "tiny.cc").write_text(SOURCE)
    (tmp_path / "source" / "shared.h").write_text("")
    compiler(tmp_path, 'exec g++ "$@"')
    monkeypatch.setattr(build, "FOLDER", tmp_path / "source")
    monkeypatch.setenv("TFACCEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", str(tmp_path / "compiler"))
    build._outcome.cache_clear()
    yield tmp_path
    build._outcome.cache_clear()


def compiler(home, does):
    """Write a compiler that notes each compilation."""
    script = home / "compiler"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec g++ --version\n'
        f'echo >> "{home}/compilations"\n{does}\n'
    )
    script.chmod(0o755)


def compilations(home):
    notes = home / "compilations"
    return len(notes.read_text().splitlines()) if notes.exists() else 0


def load_anew():
    build._outcome.cache_clear()  # as another process would
    return load("tiny", check)


def check(ops):
    """Find nothing wrong."""


def files(home, pattern="*"):
    return sorted(file.name for file in (home / "cache").glob(pattern))


def test_is_compiled_once(home):
    load("tiny", check)
    load("tiny", check)
    load_anew()
    assert compilations(home) == 1
    assert re.fullmatch(r"tiny-\w{16}-\w{16}\.so", *files(home, "[!.]*"))
    assert files(home, ".*") == [".lock"], "something was left aside"


@pytest.mark.parametrize("name", ["tiny.cc", "shared.h"])
def test_is_compiled_anew_when_the_source_changes(home, name):
    load("tiny", check)
    with (home / "source" / name).open("a") as file:
        file.write("// changed\n")
    load_anew()
    assert compilations(home) == 2


@pytest.mark.parametrize(
    ("owner", "what", "value"),
    [
        (build.tf, "__version__", "2.99"),
        (build, "_processor", lambda: "another"),
        (build, "_version", lambda compiler: "g++ 99"),
        (build, "FLAGS", (*build.FLAGS, "-O2")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_is_compiled_anew_when_the_machine_changes(home, monkeypatch, owner, what, value):
    load("tiny", check)
    monkeypatch.setattr(owner, what, value)
    load_anew()
    assert compilations(home) == 2


def test_the_processor_is_known():
    assert "flags" in build._processor()


def test_the_cache_is_in_the_home_folder_unless_told_otherwise(home, monkeypatch):
    monkeypatch.delenv("TFACCEL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    load("tiny", check)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(home / "me"))
    load_anew()
    assert list((home / "xdg" / "tfaccel" / "native").glob("tiny-*.so"))
    assert list((home / "me" / ".cache" / "tfaccel" / "native").glob("tiny-*.so"))


@pytest.mark.parametrize("damage", [b"", b"not a library", None], ids=["empty", "other", "cut"])
def test_a_broken_file_is_made_again(home, damage):
    load("tiny", check)
    (file,) = (home / "cache").glob("*.so")
    whole = file.read_bytes()
    file.unlink()  # a new file: this process has the old one open as a library
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    load_anew()
    assert compilations(home) == 2
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written(home, monkeypatch):
    (home / "file").write_text("")
    monkeypatch.setenv("TFACCEL_CACHE", str(home / "file" / "cache"))
    load("tiny", check)
    assert compilations(home) == 1


def test_no_compiler(home, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O1")
    with pytest.raises(UnavailableError, match="CXX names the C\\+\\+ compiler 'no-such-compiler'"):
        load("tiny", check)
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(home))
    with pytest.raises(UnavailableError, match="no C\\+\\+ compiler; install g\\+\\+"):
        load_anew()


def test_a_source_that_does_not_compile(home):
    (home / "source" / "tiny.cc").write_text("int x = ;\n")
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"tiny\.cc: .*tiny\.cc:1:9: error: ") as caught:
            load("tiny", check)
    assert compilations(home) == 1, "a failure was tried again"
    assert "\n" not in str(caught.value)
    log = re.search(r"all of it: (.*)\)", str(caught.value))[1]
    with open(log) as file:
        assert file.read().count("error") >= 1
    assert not files(home, "*.so")


def test_a_compiler_that_says_nothing(home):
    compiler(home, "exit 3")
    with pytest.raises(UnavailableError, match="it ended with code 3"):
        load("tiny", check)


def test_a_compiler_that_writes_nothing(home):
    compiler(home, "exit 0")
    with pytest.raises(UnavailableError, match="it ended with code 0"):
        load("tiny", check)


def test_a_library_that_does_not_load(home):
    (home / "source" / "tiny.cc").write_text(
        "void missing(); extern int x; int x = (missing(), 1);"
    )
    with pytest.raises(UnavailableError, match=r"tiny\.cc do not work on this machine: .*missing"):
        load("tiny", check)


@pytest.mark.multiprocess
def test_two_processes_at_once(home):
    code = textwrap.dedent(LOAD.format(folder=str(home / "source")))
    compiler(home, 'sleep 2\nexec g++ "$@"')  # so that the second surely comes meanwhile
    both = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert compilations(home) == 1
    assert len(files(home, "*.so")) == 1


def test_only_whole_files_count(tmp_path):
    (tmp_path / "a-b.so").write_text("cut")
    assert kept(tmp_path, "a") is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("march", ["x86-64", "haswell", "znver3", "cascadelake", "sapphirerapids"])
@pytest.mark.parametrize("source", sorted(build.FOLDER.glob("*.cc")), ids=lambda path: path.name)
def test_compiles_for_other_processors(source, march):
    if platform.machine() != "x86_64":
        pytest.skip("the names are of x86 processors")
    flags = [*tf.sysconfig.get_compile_flags(), *build.FLAGS]
    command = ["g++", *flags, f"-march={march}", "-fsyntax-only", str(source)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_there_are_sources_to_compile():
    assert len(list(build.FOLDER.glob("*.cc"))) >= 2
