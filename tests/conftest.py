"""What all tests share: the recorded runs beside the checkout, and settled random examples."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

SHARED = Path(__file__).resolve().parents[2] / "shared"
ORACLE_TESTS = Path(__file__).resolve().parent / "oracle"

# A shell starts background jobs with Ctrl-C ignored, and tests of Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A failure must come again on the next run, and a busy machine is not a failure.
settings.register_profile("treewright", derandomize=True, deadline=None)
settings.load_profile("treewright")


def is_shared_required() -> bool:
    """Whether a skipped test against recorded runs counts as failed (set by .ci/run)."""
    return os.environ.get("TREEWRIGHT_REQUIRE_SHARED") == "1"


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with real data sets and recorded runs of other programs."""
    if not SHARED.is_dir():
        message = f"the recorded runs are not here: {SHARED}"
        if is_shared_required():
            pytest.fail(message)
        pytest.skip(message)
    return SHARED


@pytest.fixture(scope="session")
def press_ctrl_c() -> Callable[[float, Callable[[], object]], float]:
    """Ctrl-C comes `after` seconds of `work`; the answer is how long it went on after that.

    Work that a fast machine finishes before begins again: an interrupt that finds no work would
    end the whole run of tests.
    """

    def press(after: float, work: Callable[[], object]) -> float:
        previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
        due = time.perf_counter() + after
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            while True:
                work()
        except KeyboardInterrupt:
            return time.perf_counter() - due
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)

    return press


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return _refuse_skip(report, item.path)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return _refuse_skip(report, collector.path)


def _refuse_skip(report: Report, path: Path) -> Report:
    """Turn a skip below tests/oracle into a failure where the recorded runs are required."""
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    if is_skip and is_shared_required() and path.is_relative_to(ORACLE_TESTS):
        report.outcome = "failed"
        report.longrepr = f"skipped, though the recorded runs are required: {report.longrepr}"
    return report
