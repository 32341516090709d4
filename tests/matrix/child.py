"""A child process: reads cases from its input, a line each, and answers with a line each."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys

from tests.matrix.cases import Case, run

MEMORY = 8 << 30
"""Bytes that a child may map; no table here needs a tenth of it."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    # Answers have a channel of their own: whatever a library prints goes to the error output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(run(Case.from_json(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
