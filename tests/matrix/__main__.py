"""Run the matrix: ``python -m tests.matrix --minutes 2 --seed 1``.

Cases run in child processes, so that a crash is one failed case. A fault is shrunk and printed as
a snippet, once for all cases that seem to have one cause. The exit status is 1 where there were
any.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.matrix.cases import Case, draw_case, signature, smaller, snippet

LIMIT = 20.0
"""Seconds of processor time that a case may take."""

PATIENCE = 180.0
"""Seconds by the clock after which a case that waits for something is given up."""

SHRINKING = 45.0
"""Seconds by the clock that are spent on making a case smaller."""


class Child:
    """A process that runs cases; a new one takes its place when it dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        self.errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.matrix.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self.n_run = 0
        return self.process

    def run(self, case: Case) -> dict[str, str]:
        """The outcome of a case; a signal and a hang are outcomes too."""
        import json

        process = self.process or self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        began, used = time.monotonic(), _processor_seconds(process.pid)
        process.stdin.write(case.to_json() + "\n")
        process.stdin.flush()
        while not select.select([process.stdout], [], [], 0.5)[0]:
            spent = _processor_seconds(process.pid) - used
            if spent > LIMIT or time.monotonic() - began > PATIENCE:
                self.stop()
                return {
                    "ended": "hang",
                    "kind": "hang",
                    "act": "?",
                    "where": "",
                    "told": f"{spent:.0f} s",
                }
        line = process.stdout.readline()
        if not line:
            process.wait()
            self.errors.seek(0)
            lines = [w for w in self.errors.read().splitlines() if "xtension modules" not in w]
            self.stop()
            where = next((w for w in lines if "/treewright/" in w), "").rpartition("/")[2]
            told = "\n".join(lines[-30:])
            kind = "signal" if process.returncode < 0 else "exit"
            text = f"{kind} {process.returncode}\n{told}"
            return {"ended": kind, "kind": kind, "act": "?", "where": where, "told": text}
        self.n_run += 1
        if self.n_run >= 400:  # so that what a library keeps does not add up to the limit
            self.stop()
        found: dict[str, str] = json.loads(line)
        return found

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def shrink(child: Child, case: Case, fault: dict[str, str]) -> tuple[Case, dict[str, str]]:
    """A smaller case with the same fault."""
    end = time.monotonic() + SHRINKING
    if fault["act"] == "?":  # which act it was
        for acts in [(), *((act,) for act in case.acts)]:
            alone = Case(case.estimator, case.parameters, case.table, acts)
            found = child.run(alone)
            if found.get("kind") == fault["kind"]:
                case, fault = alone, found
                break
    wanted = signature(case, fault)
    is_smaller = True
    while is_smaller and time.monotonic() < end:
        is_smaller = False
        act = case.acts[0] if fault["act"] == "?" and case.acts else fault["act"]
        for candidate in smaller(case, "fit" if act == "?" else act):
            if time.monotonic() > end:
                break
            found = child.run(candidate)
            if found.get("kind") and signature(candidate, found) == wanted:
                case, fault, is_smaller = candidate, found, True
                break
    return case, fault


class Run:
    """Cases of one seed, on several children at a time."""

    def __init__(self, seed: int, minutes: float, first: int, most: int | None) -> None:
        self.seed, self.end = seed, time.monotonic() + 60 * minutes
        self.numbers = iter(range(first, first + most)) if most else itertools.count(first)
        self.lock = threading.Lock()
        self.ended: collections.Counter[str] = collections.Counter()
        self.faults: collections.Counter[tuple[str, ...]] = collections.Counter()
        self.seconds: collections.Counter[str] = collections.Counter()

    def work(self) -> None:
        child = Child()
        while time.monotonic() < self.end:
            with self.lock:
                number = next(self.numbers, None)
            if number is None:
                break
            case = draw_case(self.seed, number)
            began = time.monotonic()
            fault = child.run(case)
            with self.lock:
                self.ended[fault["ended"]] += 1
                self.seconds[case.estimator] += time.monotonic() - began
            if "kind" in fault:
                self.report(child, number, case, fault)
        child.stop()

    def report(self, child: Child, number: int, case: Case, fault: dict[str, str]) -> None:
        name = signature(case, fault)
        with self.lock:
            self.faults[name] += 1
            if self.faults[name] > 1:
                return
        case, fault = shrink(child, case, fault)
        with self.lock:
            shrunk = signature(case, fault)
            is_known = shrunk != name and self.faults[shrunk] > 0
            self.faults[shrunk] += shrunk != name
            if is_known:
                return
            print(f"\n=== {' · '.join(shrunk)} (seed {self.seed}, case {number})")
            print(snippet(case))
            print(
                "\n".join("# " + line for line in fault["told"].strip().splitlines()[-14:]),
                flush=True,
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=None, help="how many; all that time allows")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    run = Run(given.seed, given.minutes, given.first, given.cases)
    workers = [threading.Thread(target=run.work) for _ in range(given.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    n = sum(run.ended.values())
    print(f"\n{n} cases: " + ", ".join(f"{v} {k}" for k, v in run.ended.most_common()))
    slow = ", ".join(f"{k} {v:.0f} s" for k, v in run.seconds.most_common(5))
    print(f"most time: {slow}")
    failed = sum(run.faults.values())
    for fault, count in run.faults.most_common():
        print(f"{count:5d}  {' · '.join(fault)}")
    print(f"{n - min(failed, n)} passed, {failed} failed")
    return 1 if run.faults else 0


if __name__ == "__main__":
    sys.exit(main())
