"""What a bench prints: one measure against its baseline, with the target of the design beside it."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One ratio. `most` is the target, None where there is none."""

    name: str
    value: float
    baseline: float
    most: float | None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        return self.value / self.baseline

    @property
    def is_met(self) -> bool:
        return self.most is None or self.ratio <= self.most

    def __str__(self) -> str:
        verdict = "" if self.most is None else f"  (at most {self.most:g}{'' if self.is_met else ', MISSED'})"
        figures = f"{self.value:9.3f} {self.unit} / {self.baseline:9.3f} {self.unit} = {self.ratio:6.2f}"
        return f"{self.name:<58} {figures}{verdict}"


def measure_seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def measure_median(
    call: Callable[[], object], *, times: int = 30, clock: Callable[[], float] = time.process_time
) -> float:
    """Return the median seconds of a call, of CPU unless another clock is given, after a few to warm up."""
    for _ in range(5):
        call()
    seconds = []
    for _ in range(times):
        started = clock()
        call()
        seconds.append(clock() - started)
    return statistics.median(seconds)
