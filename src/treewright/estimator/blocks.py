"""Fits on data that are read in blocks, for estimators that can."""

from __future__ import annotations

from typing import Any, Self

from treewright.data.sources import is_source, refuse_without_target
from treewright.errors import ParameterError

__all__ = ["ReadsBlocks"]


class ReadsBlocks:
    """A ``fit`` that takes a source as well as a table; stands before the base class."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        memory_limit: Any = None,
        temp_dir: Any = None,
        client: Any = None,
        **metadata: Any,
    ) -> Self:
        """Fit the model to rows in memory, or to a source.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), path, or Dask collection
            Numpy array, pandas, polars or Arrow table, or dict of columns; gaps allowed. With
            ``target``, a source that holds the target too and is read in blocks: a file or folder
            (Parquet, Arrow, CSV), a pattern such as ``"folder/*.parquet"``, a data frame, or a
            Dask data frame. Columns of more than 255 values are then split between bins.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for regression
            The target, without gaps; None where ``target`` names it.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weight of each row, at least 0; rows of weight 0 are left out. Where rows are drawn,
            it is their chance to be drawn. With ``target``, also the name of a column of the
            source, which is then no feature.
        target : str, default=None
            The column of the source X to predict.
        memory_limit : int or str, default=None
            With ``target``: most memory of the process, such as ``"1GB"``; blocks beyond it are
            kept in files.
        temp_dir : path, default=None
            With ``target``: the folder of these files.
        client : dask.distributed.Client, default=None
            With ``target``: the cluster that holds the blocks and counts.
        **metadata
            Without ``target``: for the splitter of ``cv``, such as ``groups``, by scikit-learn's
            metadata routing.

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C ends the fit and raises KeyboardInterrupt. A forest keeps the members before the
        first unfinished one; ``set_params(warm_start=True).fit(X, y)`` grows the others.
        """
        if not is_source(X, y, target):
            refuse_without_target(memory_limit=memory_limit, temp_dir=temp_dir, client=client)
            return super().fit(X, y, sample_weight, **metadata)  # type: ignore[misc, no-any-return]
        from treewright.scale._trees import fit_source

        if metadata:
            raise ParameterError(
                f"{sorted(metadata)[0]} is handed to the splitter of cv, which is for rows in "
                "memory, but X is read in blocks; leave it out."
            )

        fit_source(
            self,
            X,
            y,
            sample_weight,
            target=target,
            memory_limit=memory_limit,
            temp_dir=temp_dir,
            client=client,
        )
        return self
