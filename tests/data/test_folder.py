"""A folder of images: read, split the same way each time, refused in one sentence."""

import os
import shutil

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from tfaccel.data import open_source
from tfaccel.data.audit import audit
from tfaccel.errors import UsageError

SPLITS = ("train", "validation", "test")


def opened(path, size=32):
    return open_source(str(path), size=size)


def audited(path, size=32):
    return audit(opened(path, size), lambda items, total: items)


def names(source):
    return {split: list(getattr(source, split).names) for split in SPLITS}


def test_every_kind_mode_and_size_is_read_as_a_square_of_colour(photos):
    source, broken = audited(photos, size=40)
    assert broken == ()
    assert source.classes == ("dark", "light")
    assert [getattr(source, s).count for s in SPLITS] == [48, 6, 6]
    for images, targets in source.train.ordered(48):
        assert images.shape == (48, 40, 40, 3)
        assert images.dtype == tf.uint8
        brightness = images.numpy().mean(axis=(1, 2, 3))
        assert (brightness > 125).tolist() == targets.numpy().argmax(axis=1).astype(bool).tolist()


def test_the_split_is_the_same_each_time_balanced_and_without_overlap(photos):
    first, second = names(opened(photos)), names(opened(photos))
    assert first == second
    everything = sum(first.values(), [])
    assert len(everything) == len(set(everything)) == 60
    for split in SPLITS:
        labels = getattr(opened(photos), split).labels
        assert np.bincount(labels)[0] == np.bincount(labels)[1]


def test_given_splits_are_kept(photos, tmp_path):
    for part in ("train", "val", "test"):
        shutil.copytree(photos, tmp_path / "set" / part)
    source = opened(tmp_path / "set")
    assert [getattr(source, s).count for s in SPLITS] == [60, 60, 60]
    shutil.rmtree(tmp_path / "set" / "test")
    assert opened(tmp_path / "set").test is None
    shutil.move(tmp_path / "set" / "val", tmp_path / "set" / "test")
    source = opened(tmp_path / "set")
    assert [getattr(source, s).count for s in SPLITS] == [54, 6, 60]
    shutil.move(tmp_path / "set" / "test", tmp_path / "set" / "validation")
    source = opened(tmp_path / "set")
    assert (source.train.count, source.validation.count, source.test) == (60, 60, None)


def test_the_middle_of_an_oblong_image_is_kept(tmp_path):
    for label in ("a", "b"):
        (tmp_path / label).mkdir()
        for i in range(5):
            pixels = np.zeros((30, 90, 3), np.uint8)
            pixels[:, 30:60] = 200
            Image.fromarray(pixels).save(tmp_path / label / f"{i}.png")
    source, _ = audited(tmp_path)
    images, _ = next(iter(source.train.ordered(2)))
    assert (images.numpy() == 200).all()


def test_names_may_be_any_bytes(photos):
    os.rename(photos / "dark" / "2 ö.png", os.fsencode(photos / "dark") + b"/\xff [x]\n.png")
    source, broken = audited(photos)
    assert broken == ()
    assert sum(getattr(source, s).count for s in SPLITS) == 60


def test_hidden_files_are_left_alone_and_inner_folders_are_read(photos):
    (photos / ".cache").mkdir()
    (photos / "dark" / ".hidden.jpg").write_bytes(b"no image")
    (photos / "dark" / "notes.txt").write_text("no image")
    (photos / "dark" / "more").mkdir()
    shutil.copy(photos / "light" / "2 ö.png", photos / "dark" / "more" / "x.png")
    (photos / "dark" / "loop").symlink_to(photos / "dark")
    assert sum(len(part) for part in names(opened(photos)).values()) == 61


def spoil(photos, how):
    match how:
        case "truncated":
            file = photos / "dark" / "0 ö.jpg"
            file.write_bytes(file.read_bytes()[:400])
        case "empty":
            (photos / "dark" / "0 ö.jpg").write_bytes(b"")
        case "text":
            (photos / "dark" / "2 ö.png").write_text("not an image at all")
        case "bitmap":
            (photos / "dark" / "4 ö.bmp").write_bytes(b"BM and nothing else")
        case "gone":
            (photos / "dark" / "0 ö.jpg").unlink()
            (photos / "dark" / "0 ö.jpg").symlink_to(photos / "nowhere.jpg")


@pytest.mark.parametrize("how", ["truncated", "empty", "text", "bitmap", "gone"])
def test_a_broken_image_is_named_and_left_out(photos, how):
    for i in range(100):  # so that one broken image is less than one in a hundred
        shutil.copy(photos / "light" / "2 ö.png", photos / "light" / f"copy {i}.png")
    spoil(photos, how)
    source, broken = audited(photos)
    assert len(broken) == 1
    assert broken[0].startswith(str(photos / "dark"))
    assert len(broken[0]) > len(str(photos / "dark" / "0 ö.jpg")) + 5, "no reason is given"
    assert sum(getattr(source, s).count for s in SPLITS) == 159


def test_many_broken_images_stop_the_run_with_their_list(photos):
    spoil(photos, "truncated")
    spoil(photos, "text")
    with pytest.raises(UsageError) as caught:
        audited(photos)
    first, *rest = str(caught.value).splitlines()
    assert first.startswith("2 of 60 images")
    assert len(rest) == 2


@pytest.mark.parametrize("how", ["truncated", "empty", "text", "bitmap", "gone"])
def test_images_that_do_not_fit_in_memory_are_read_again_each_time(photos, how, monkeypatch):
    monkeypatch.setattr("tfaccel.data.audit.MEMORY_SHARE", 0.0)
    monkeypatch.setattr("tfaccel.data.audit.MOST_BROKEN_SHARE", 0.5)
    spoil(photos, how)
    streamed, broken = audited(photos)
    assert len(broken) == 1
    monkeypatch.setattr("tfaccel.data.audit.MEMORY_SHARE", 0.25)
    kept, _ = audited(photos)
    assert type(streamed.train) is not type(kept.train)
    for a, b in zip(
        streamed.train.shuffled(7, seed=3, epochs=2),
        kept.train.shuffled(7, seed=3, epochs=2),
        strict=True,
    ):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda p: shutil.rmtree(p), "no data set and no folder"),
        (lambda p: [shutil.rmtree(p), p.write_text("x")], "is a file"),
        (lambda p: [shutil.rmtree(c) for c in p.iterdir()], "has no subfolders"),
        (lambda p: shutil.rmtree(p / "dark"), "one class only, 'light'"),
        (lambda p: [f.unlink() for f in (p / "dark").iterdir()], "dark has no image"),
        (lambda p: [f.unlink() for c in p.iterdir() for f in sorted(c.iterdir())[2:]], "too few"),
        (
            lambda p: [(p / "train").mkdir(), shutil.move(p / "dark", p / "train")],
            "light beside train",
        ),
        (lambda p: (p / "dark").rename(p / "val"), "has val but no train"),
        (
            lambda p: [f.unlink() for c in p.iterdir() for f in sorted(c.iterdir())[3:]],
            "it needs four",
        ),
    ],
)
def test_a_folder_that_cannot_be_trained_on_is_refused_in_one_sentence(photos, change, sentence):
    change(photos)
    with pytest.raises(UsageError, match=sentence) as caught:
        opened(photos)
    assert "\n" not in str(caught.value)


def test_validation_may_lack_a_class(photos, tmp_path):
    shutil.copytree(photos, tmp_path / "set" / "train")
    shutil.copytree(photos / "light", tmp_path / "set" / "val" / "light")
    assert np.bincount(opened(tmp_path / "set").validation.labels).tolist() == [0, 30]
    shutil.rmtree(tmp_path / "set" / "val" / "light")
    with pytest.raises(UsageError, match="val has no image"):
        opened(tmp_path / "set")


def test_a_class_that_training_lacks_is_refused(photos, tmp_path):
    shutil.copytree(photos, tmp_path / "set" / "train")
    shutil.copytree(photos, tmp_path / "set" / "val")
    (tmp_path / "set" / "val" / "grey").mkdir()
    with pytest.raises(UsageError, match="has the class 'grey', which the training images lack"):
        opened(tmp_path / "set")
