"""The progress of a fit, told to scikit-learn's callbacks and, with ``verbose``, to the reader.

A fit is one task of :data:`STEPS` subtasks; growing reports fractions, and the steps passed
since the last report are begun and ended. Without callbacks nothing is set up at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Self

__all__ = ["Followed", "Progress", "Spoken", "reported"]

STEPS = 100


class Progress:
    """Turns fractions of one of ``n_parts`` equal parts into steps of the whole.

    Parameters
    ----------
    estimator, context
        Who is fitted, and the callback context of its fit.
    n_parts
        Trees that will be grown.
    """

    def __init__(self, estimator: Any, context: Any, n_parts: int = 1) -> None:
        self._estimator = estimator
        self._context = context
        self._told = 0
        self._part = 0
        self._n_parts = n_parts

    def __call__(self, fraction: float) -> None:
        """Report that ``fraction`` of the current part is done."""
        done = int(STEPS * (self._part + fraction) / self._n_parts)
        while self._told < min(done, STEPS):
            step = self._context.subcontext(task_name="grow")
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)
            self._told += 1

    def next_part(self) -> None:
        """End the current part."""
        self(1.0)
        self._part += 1

    def finish(self) -> None:
        """End all parts."""
        self._part = self._n_parts - 1
        self(1.0)


class Spoken:
    """Prints how many of ``n`` parts are done: at every tenth of them, or at every one.

    Parameters
    ----------
    name
        Who is fitted.
    n
        Parts in all.
    verbose
        As the estimators' parameter: 0 prints nothing.
    part
        What the parts are, in the plural.
    """

    def __init__(self, name: str, n: int, verbose: int, part: str = "members") -> None:
        self._name, self._n, self._part = name, n, part
        self._step = 1 if verbose > 1 else max(1, n // 10)
        self._is_on = bool(verbose)
        self._told = 0
        self._start = perf_counter()

    def __call__(self, n_done: int) -> None:
        """Say that ``n_done`` parts are done, if a line is due."""
        is_due = n_done // self._step > self._told // self._step or n_done == self._n
        if self._is_on and is_due and n_done > self._told:
            seconds = perf_counter() - self._start
            print(f"{self._name}: {n_done} of {self._n} {self._part}, {seconds:.1f} s", flush=True)
            self._told = n_done


@contextmanager
def reported(
    estimator: Any, X: Any, y: Any, sample_weight: Any, n_parts: int = 1
) -> Iterator[Progress | None]:
    """Set callbacks up around a fit of ``n_parts`` parts; None where there are none."""
    if "_skl_callbacks" not in vars(estimator):
        yield None
        return
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context

    about = {
        "estimator": estimator,
        "X": X,
        "y": y,
        "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
    }
    with callback_management_context(estimator):
        context = CallbackSupportMixin._init_callback_context(estimator, max_subtasks=STEPS)
        context.call_on_fit_task_begin(**about)
        progress = Progress(estimator, context, n_parts)
        yield progress
        progress.finish()
        context.call_on_fit_task_end(**about, reconstruction_attributes={})


class Followed:
    """An estimator whose ``fit`` callbacks can follow."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set callbacks, such as ``sklearn.callback.ProgressBar()``, that follow ``fit``.

        Parameters
        ----------
        *callbacks
            Instances that follow scikit-learn's FitCallback protocol.

        Returns
        -------
        self
        """
        # Borrowed rather than inherited: its module costs 60 ms to import.
        from sklearn.callback import CallbackSupportMixin

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self
