"""Plans: read from words, refused in words."""

import pytest

import tfaccel
from tfaccel.errors import UsageError
from tfaccel.plan import Plan
from tfaccel.techniques import parse_plan
from tfaccel.techniques.mixed_precision import MixedPrecision
from tfaccel.techniques.steps_per_execution import StepsPerExecution
from tfaccel.techniques.xla import Xla


def test_none_is_the_empty_plan():
    assert parse_plan("none") == Plan() == parse_plan(())
    assert str(Plan()) == "none"


def test_words_and_options():
    plan = parse_plan(["mixed_precision:dtype=float16", "xla:enabled=false"])
    assert plan == Plan((MixedPrecision(dtype="float16"), Xla(enabled=False)))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("mixed_precison", "no technique 'mixed_precison'; did you mean mixed_precision?"),
        ("zzz", "choose from allocator, depthwise, fused_norm, mixed_precision, "),
        ("xla:enable=1", "no option of Xla 'enable'; did you mean enabled?"),
        ("xla:enabled", "should read OPTION=VALUE"),
        ("steps_per_execution:steps=1", "steps is '1', but it should be greater"),
        ("mixed_precision:dtype=int8", "dtype is 'int8', but it should be 'bfloat16' or 'float16'"),
        ("xla xla", "names xla twice"),
        ("none xla", "none is plain Keras and cannot be joined"),
    ],
)
def test_a_wrong_word_is_refused_in_one_sentence(words, sentence):
    with pytest.raises(UsageError) as caught:
        parse_plan(words)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_several_steps_end_with_the_epoch(job):
    assert job.steps_per_epoch == 8
    jobs = [StepsPerExecution(steps=k).apply(job) for k in (2, 3, 7, 8)]
    assert [changed.compile_args["steps_per_execution"] for changed in jobs] == [2, 3, 7, 8]
    assert [changed.steps_per_epoch for changed in jobs] == [8, 6, 7, 8]
    model, _ = tfaccel.train(job, Plan((StepsPerExecution(steps=3),)))
    assert model.optimizer.iterations == 12
    with pytest.raises(UsageError, match="A call takes 9 steps, but an epoch has only 8"):
        tfaccel.train(job, Plan((StepsPerExecution(steps=9),)))
