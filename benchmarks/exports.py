"""Exports: one row through 100 trees as C, beside m2cgen and treelite, and the time to export ONNX.

All three get the same trees (``to_sklearn``) and the same compiler flags, and are called row by
row from one C program, in turns; the best of several turns counts. treelite's rows are put into
its own structure beforehand, which is not counted.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from results import Result, Skipped, at_most, duration, faster
from sklearn.datasets import make_classification, make_regression
from speed import Settings
from timing import take_turns

import treewright as tw

N_TREES, ASKED = 100, 2000
FLAGS = ["-O2", "-shared", "-fPIC"]

HARNESS = r"""
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
union Entry { int missing; @ENTRY@ fvalue; int qvalue; };
typedef int (*ours_t)(const double *, double *);
typedef @M2RETURN@ (*m2_t)(double *@M2OUT@);
typedef void (*lite_t)(union Entry *, int, @ENTRY@ *);
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char **argv) {
  const int n = atoi(argv[4]), f = atoi(argv[5]), turns = atoi(argv[7]);
  double *x = malloc(sizeof(double) * n * f), out[64], best[3] = {1e9, 1e9, 1e9}, sum[3];
  union Entry *e = malloc(sizeof(union Entry) * n * f);
  @ENTRY@ res[64];
  ours_t ours = (ours_t)dlsym(dlopen(argv[1], RTLD_NOW), "model_predict");
  m2_t m2 = (m2_t)dlsym(dlopen(argv[2], RTLD_NOW), "score");
  lite_t lite = (lite_t)dlsym(dlopen(argv[3], RTLD_NOW), "predict");
  FILE *file = fopen(argv[6], "rb");
  if (fread(x, sizeof(double), (size_t)n * f, file) != (size_t)n * f) return 1;
  for (int i = 0; i < n * f; ++i) e[i].fvalue = x[i];
  for (int turn = 0; turn < turns; ++turn) {
    for (int who = 0; who < 3; ++who) {
      const double start = now();
      sum[who] = 0;
      for (int i = 0; i < n; ++i) {
        if (who == 0) { ours(x + i * f, out); sum[0] += out[@LAST@]; }
        if (who == 1) { @M2CALL@; sum[1] += out[@LAST@]; }
        if (who == 2) { res[0] = res[1] = 0; lite(e + i * f, 0, res); sum[2] += res[@LAST@]; }
      }
      const double took = (now() - start) / n * 1e9;
      if (took < best[who]) best[who] = took;
    }
  }
  (void)argc;
  printf("%f %f %f %.9g %.9g %.9g\n", best[0], best[1], best[2], sum[0], sum[1], sum[2]);
  return 0;
}
"""


def forest(is_class: bool, depth: int | None, n_rows: int = 4000) -> tuple[Any, Any]:
    """A fitted forest, and its rows, which single precision holds."""
    make = make_classification if is_class else make_regression
    X, y = make(n_rows, 20, n_informative=10, random_state=0)
    X = X.astype(np.float32).astype(np.float64)
    kind = tw.RandomForestClassifier if is_class else tw.RandomForestRegressor
    return kind(n_estimators=N_TREES, max_depth=depth, random_state=0).fit(X, y), X


def compiled(sources: list[Path], library: Path) -> Path:
    command = ["gcc", *FLAGS, *map(str, sources), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return library


def libraries(model: Any, folder: Path) -> list[Path]:
    """The forest as C of ours, of m2cgen and of treelite, compiled."""
    import m2cgen
    import tl2cgen
    import treelite

    theirs = tw.to_sklearn(model)
    tw.export(model, folder / "ours.c")
    (folder / "m2.c").write_text(m2cgen.export_to_c(theirs))
    lite = treelite.sklearn.import_model(theirs)
    tl2cgen.generate_c_code(lite, dirpath=folder / "lite", params={"parallel_comp": 0})
    return [
        compiled([folder / "ours.c"], folder / "ours.so"),
        compiled([folder / "m2.c"], folder / "m2.so"),
        compiled(sorted((folder / "lite").glob("*.c")), folder / "lite.so"),
    ]


def harness(is_class: bool, folder: Path) -> Path:
    """The program that calls all three."""
    words = {
        "@ENTRY@": "double",
        "@M2RETURN@": "void" if is_class else "double",
        "@M2OUT@": ", double *" if is_class else "",
        "@M2CALL@": "m2(x + i * f, out)" if is_class else "out[0] = m2(x + i * f)",
        "@LAST@": "1" if is_class else "0",
    }
    text = HARNESS
    for key, value in words.items():
        text = text.replace(key, value)
    (folder / "run.c").write_text(text)
    command = ["gcc", "-O2", str(folder / "run.c"), "-o", str(folder / "run"), "-ldl"]
    subprocess.run(command, check=True)
    return folder / "run"


def seconds_per_row(is_class: bool, depth: int, turns: int) -> dict[str, list[float]]:
    """The best turn of each, after a look at whether they say the same."""
    model, X = forest(is_class, depth)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X[:ASKED].tofile(folder / "rows.bin")
        built = [str(library) for library in libraries(model, folder)]
        command = [str(harness(is_class, folder)), *built, str(ASKED), str(X.shape[1])]
        command += [str(folder / "rows.bin"), str(turns)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    *times, ours, m2, lite = map(float, done.stdout.split())
    if not np.allclose([m2, lite], ours, rtol=1e-6):
        raise RuntimeError(f"The three do not agree: {ours}, {m2}, {lite}.")
    peers = ("treewright", "m2cgen", "treelite")
    return {who: [1e-9 * took] for who, took in zip(peers, times, strict=True)}


def c_row(task: str, depth: int = 6) -> Callable[[Settings], Iterator[Result | Skipped]]:
    """One row through 100 trees of depth 3, and of ``depth``; gcc takes most of the time."""
    case = f"export_c_{task}"

    def run(settings: Settings) -> Iterator[Result | Skipped]:
        missing = [name for name in ("m2cgen", "treelite", "tl2cgen") if find_spec(name) is None]
        if missing or shutil.which("gcc") is None:
            yield Skipped(case, f"{', '.join(missing) or 'gcc'} is not installed")
            return
        for used in (3, depth) if settings.shrink == 1 else (3,):
            times = seconds_per_row(task == "classes", used, 10 * settings.repeats)
            what = f"C99, one row, {task}, {N_TREES} trees of depth {used}"
            for peer in ("m2cgen", "treelite"):
                yield faster(case, what, peer, times, 1.0)

    return run


def onnx(settings: Settings) -> Iterator[Result | Skipped]:
    """Seconds to export 100 trees to ONNX."""
    if find_spec("onnx") is None:
        yield Skipped("export_onnx", "onnx is not installed")
        return
    for depth in (10, None):
        model, _ = forest(True, depth)
        export = partial(tw.export, model, format="onnx")
        data = export()  # loads the package, too
        took = take_turns({"treewright": export}, settings.repeats)["treewright"]
        size = "full trees" if depth is None else f"depth {depth}"
        what = f"export to ONNX, {N_TREES} trees, {size}, {len(data) / 1e6:.1f} MB"
        ours = duration(min(took))
        yield at_most("export_onnx", what, ours, "", min(took), 2.0, " s", seconds=took)
