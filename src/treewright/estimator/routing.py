"""What ``fit`` is given beside rows, target and weights, for those who ask for it.

scikit-learn's metadata routing: a splitter such as ``GroupKFold`` asks for ``groups``, a member of
a team for what its ``set_fit_request`` names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from treewright.errors import ParameterError

__all__ = ["SplitsRows", "of_rows", "routed", "router_of", "split_metadata"]


class SplitsRows:
    """An estimator with ``cv``, whose splitter may ask ``fit`` for metadata."""

    cv: Any
    _asked: Mapping[str, Any] = {}

    def get_metadata_routing(self) -> Any:
        """What ``fit`` and ``score`` ask for: weights, and what the splitter of ``cv`` does.

        Returns
        -------
        routing : MetadataRouter
        """
        return router_of(self)

    @contextmanager
    def _handing_on(self, metadata: Mapping[str, Any]) -> Iterator[None]:
        """While it lasts, ``_asked`` is the splitter's part of ``metadata``."""
        self._asked = split_metadata(routed(self, metadata))
        try:
            yield
        finally:
            del self._asked


def router_of(estimator: Any) -> MetadataRouter:
    """Routes from ``fit`` to the estimator itself and the splitter of its ``cv``."""
    router = MetadataRouter(owner=type(estimator).__name__).add_self_request(estimator)
    if hasattr(getattr(estimator, "cv", None), "split"):
        mapping = MethodMapping().add(caller="fit", callee="split")
        router.add(cv=estimator.cv, method_mapping=mapping)
    return router


def routed(estimator: Any, metadata: Mapping[str, Any]) -> Any:
    """The parts of ``metadata`` by who asked for them; nothing where there is none."""
    if not metadata:
        return {}
    if not get_config()["enable_metadata_routing"]:
        raise ParameterError(
            f"fit of {type(estimator).__name__} takes X, y and sample_weight, got "
            f"{sorted(metadata)[0]!r}; hand metadata on by "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    return process_routing(estimator, "fit", **metadata)


def split_metadata(parts: Any) -> Mapping[str, Any]:
    """The splitter's part of what was routed."""
    return parts["cv"]["split"] if "cv" in parts else {}


def of_rows(metadata: Mapping[str, Any], rows: NDArray[Any] | None, n_rows: int) -> dict[str, Any]:
    """Metadata of some of ``n_rows`` rows, a mask or numbers; what has no entry per row stays."""
    from sklearn.utils import _safe_indexing

    if rows is None:
        return dict(metadata)
    index = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
    return {
        name: _safe_indexing(value, index)
        if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows
        else value
        for name, value in metadata.items()
    }
