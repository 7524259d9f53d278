"""Writing behind the reading: what it changes for the whole process is put back, whoever ends last."""

import sys
from collections.abc import Iterator

import pytest

from evals.behind import SWITCH_SECONDS, WriteBehind

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def usual_interval() -> Iterator[float]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.003)
    yield sys.getswitchinterval()
    sys.setswitchinterval(before)


@pytest.mark.parametrize("first_to_end", [0, 1])
def test_two_at_once_leave_the_switch_interval_as_it_was(usual_interval: float, first_to_end: int) -> None:
    both = [WriteBehind(), WriteBehind()]
    quick = sys.getswitchinterval()

    both.pop(first_to_end).close()
    between = sys.getswitchinterval()
    both.pop().close()

    assert quick == between == pytest.approx(SWITCH_SECONDS)
    assert sys.getswitchinterval() == usual_interval


def test_work_that_fails_ends_the_quick_switching_too(usual_interval: float) -> None:
    behind = WriteBehind()
    behind.submit(lambda: [][0])

    behind.close()

    assert sys.getswitchinterval() == usual_interval
