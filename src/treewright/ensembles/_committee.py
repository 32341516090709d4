"""What voting and stacking share: named members of any kind, and what they say of held-out rows.

Members are fitted on the classes as they came, not on codes, so that they read as if they had been
fitted alone. Where all of them are treewright's, the table is encoded once for all; otherwise every
member gets the rows as they came, so that text and gaps are taken where all members take them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.metadata_routing import MethodMapping
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from treewright.data.encode import encode
from treewright.data.schema import Schema
from treewright.data.target import class_codes, numeric_target
from treewright.data.weights import check_lengths, read_weights
from treewright.ensembles.members.bodies import take_rows
from treewright.errors import DataError, ModelFileError, ParameterError
from treewright.estimator.explained import Explained
from treewright.estimator.folds import dealt_folds, split_by
from treewright.estimator.parameters import check_parameters
from treewright.estimator.progress import Spoken
from treewright.estimator.routing import of_rows, routed, router_of, split_metadata
from treewright.estimator.scikit import TableInputMixin, weights_differ
from treewright.estimator.training import threads

if TYPE_CHECKING:
    from sklearn.utils import Tags

__all__ = ["Committee", "Material", "answer", "of_classes", "out_of_fold"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Material:
    """Rows that members can be fitted to, the target as it came, and what else was given."""

    rows: Any
    y: NDArray[Any]
    weight: Floats | None
    classes: NDArray[Any] | None
    schema: Schema | None
    kept: NDArray[np.bool_] | None = None
    for_members: Sequence[Mapping[str, Any]] = ()
    for_splitter: Mapping[str, Any] = field(default_factory=dict)

    def take(self, index: Rows) -> Material:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        n, rows = len(self.y), take_rows(self.rows, index)
        own = [of_rows(metadata, index, n) for metadata in self.for_members]
        return Material(rows, self.y[index], weight, self.classes, self.schema, for_members=own)

    def places(self, index: Any) -> Rows:
        """Row numbers of ``X`` as places among the rows that take part."""
        places: Rows = np.asarray(index)
        if self.kept is None:
            return places
        return np.asarray((np.cumsum(self.kept) - 1)[places[self.kept[places]]])


class Committee(Explained, TableInputMixin):
    """Base of voting and stacking, in front of scikit-learn's own classes."""

    estimators: Any
    estimators_: list[Any]
    classes_: NDArray[Any]
    n_jobs: int | None
    verbose: int
    _schema: Schema | None

    # Before the fit

    def _members(self) -> list[tuple[str, Any]]:
        """Names and estimators that take part, checked."""
        given = self.estimators
        if not isinstance(given, list | tuple) or not given or not all(map(_is_pair, given)):
            raise ParameterError(
                "estimators must be a list of pairs of a name and an estimator, "
                f"got {_shown(given)}."
            )
        names = [name for name, _ in given]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(
                f"estimators must have different names, but {twice!r} names two of them."
            )
        reserved = {name for name in names if "__" in name} | set(names) & set(
            self.get_params(deep=False)  # type: ignore[attr-defined]
        )
        if reserved:
            raise ParameterError(
                "The name of an estimator must not hold '__' nor be a parameter of "
                f"{type(self).__name__}, got {sorted(reserved)[0]!r}."
            )
        members = [(name, member) for name, member in given if not _is_dropped(member)]
        if not members:
            raise ParameterError('All estimators are dropped, and at least one must not be "drop".')
        is_kind = is_classifier if is_classifier(self) else is_regressor
        for name, member in members:
            if not is_kind(member):
                raise ParameterError(
                    f"The estimator {name!r} of {type(self).__name__} should be a "
                    f"{is_kind.__name__[3:]}, got {type(member).__name__}."
                )
        return members

    def _material(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        others: Iterable[Any] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Material:
        """Check everything and read the target; ``others`` must take the rows as well."""
        check_parameters(self)
        members = [member for _, member in self._members()]
        parts = routed(self, metadata or {})
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        classes = None
        if is_classifier(self):
            codes, classes = class_codes(y)
            labels: NDArray[Any] = classes[codes]
        else:
            labels = numeric_target(y)
        weight, kept = read_weights(sample_weight, len(labels))
        takers = [*members, *others]
        rows: Any = None
        schema = None
        if all(isinstance(taker, TableInputMixin) for taker in takers) and _same_kinds(takers):
            rows = encode(X, **_kinds(takers[0]), owner=type(self).__name__)
            schema = rows.schema
        else:
            _refuse_sparse(X, takers)
            rows = as_rows(X)
        check_lengths(_length(rows), len(labels))
        asked = [parts[name]["fit"] if parts else {} for name, _ in self._members()]
        asked.append(split_metadata(parts))
        *for_members, for_splitter = (of_rows(part, kept, len(labels)) for part in asked)
        if kept is not None:
            rows, labels = take_rows(rows, np.flatnonzero(kept)), labels[kept]
            classes = None if classes is None else np.unique(labels)
        return Material(rows, labels, weight, classes, schema, kept, for_members, for_splitter)

    # Fitting

    def _fit_members(self, material: Material) -> list[Any]:
        """Clones of all members, fitted."""
        members = [member for _, member in self._members()]
        return _in_parallel(
            [(_fit, (clone(member), material, k)) for k, member in enumerate(members)],
            self.n_jobs,
            members,
            self._spoken(len(members), "members"),
        )

    def _spoken(self, n: int, part: str) -> Spoken:
        """Who tells the user of ``n`` fits."""
        return Spoken(type(self).__name__, n, int(self.verbose), part)

    def _keep_members(self, fitted: list[Any], material: Material) -> None:
        from sklearn.utils import Bunch

        self.estimators_ = fitted
        self._schema = material.schema
        self.__dict__.pop("feature_names_in_", None)
        if material.classes is not None:
            self.classes_ = material.classes
        left = iter(fitted)
        self.named_estimators_ = Bunch(
            **{n: "drop" if _is_dropped(e) else next(left) for n, e in self.estimators}
        )
        for member in fitted:
            if hasattr(member, "feature_names_in_"):
                self.feature_names_in_ = member.feature_names_in_
                break

    def _splits(self, material: Material, cv: Any, random_state: Any) -> list[tuple[Rows, Rows]]:
        n_rows = len(material.y)
        if cv is None or isinstance(cv, int | np.integer):
            n = 5 if cv is None else int(cv)
            if n_rows < n:
                raise DataError(
                    f"{type(self).__name__} holds rows out in cv={n} folds, which needs {n} rows "
                    f"or more, but X has {n_rows} sample(s); use a smaller cv."
                )
            codes = None
            if material.classes is not None:
                codes = np.searchsorted(material.classes, material.y)
            return dealt_folds(n, n_rows, codes, random_state)
        if hasattr(cv, "split"):
            return split_by(cv, material.y, material.for_splitter)
        return [(material.places(train), material.places(test)) for train, test in cv]

    # Predicting

    def _readable(self, X: Any) -> Any:
        """New rows in the form that the members were fitted to."""
        check_is_fitted(self)
        if self._schema is None:
            return as_rows(X)
        return encode(X, schema=self._schema, owner=type(self).__name__)

    # scikit-learn

    def _weights_differ(self) -> str | None:
        whys = (weights_differ(member) for _, member in self._members())
        return next((why for why in whys if why is not None), None)

    def get_metadata_routing(self) -> Any:
        """What ``fit`` and ``score`` ask for: weights, which all members get, and what one asks.

        Returns
        -------
        routing : MetadataRouter
        """
        router = router_of(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for name, member in self._members():
            router.add(**{name: member}, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        members = [e for _, e in self.estimators] if isinstance(self.estimators, list) else []
        known = [get_tags(member).input_tags for member in members if hasattr(member, "fit")]
        for name in ("allow_nan", "categorical", "dict", "sparse"):
            setattr(tags.input_tags, name, bool(known) and all(getattr(t, name) for t in known))
        return tags

    # Model files

    def _member_state(self) -> dict[str, Any]:
        check_is_fitted(self)
        return {
            "members": list(self.estimators_),
            "schema": self._schema,
            "classes": getattr(self, "classes_", None),
        }

    def _restore_members(self, state: dict[str, Any]) -> None:
        members, schema, classes = (state[key] for key in ("members", "schema", "classes"))
        wanted = [e for _, e in self._members()]
        fits = (
            type(members) is list
            and [type(m) for m in members] == [type(m) for m in wanted]
            and (schema is None or type(schema) is Schema)
            and isinstance(classes, np.ndarray) == is_classifier(self)
        )
        if not fits:
            raise ModelFileError(f"what {type(self).__name__} learned is incomplete")
        for member in members:
            check_is_fitted(member)
            if classes is not None and not np.isin(member.classes_, classes).all():
                raise ModelFileError("its members know other classes")
        material = Material(None, np.empty(0), None, classes, schema)
        self._keep_members(members, material)


# What members say


def answer(model: Any, rows: Any, method: str, classes: NDArray[Any] | None) -> Floats:
    """What a fitted member says, one column per class of the team, or one of numbers."""
    said = np.asarray(getattr(model, method)(rows))
    if classes is None:
        return np.asarray(said, np.float64).reshape(len(said), -1)
    if method == "predict":
        return np.asarray(said[:, None] == classes[None, :], np.float64)
    said = said.reshape(len(said), -1)
    if method == "decision_function" and len(model.classes_) == 2:
        said = np.hstack([-said, said])
    return of_classes(said, model.classes_, classes)


def of_classes(said: Floats, known: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Columns of the known classes as columns of all; the others are zero."""
    if len(known) == len(classes):
        return np.asarray(said, np.float64)
    whole = np.zeros((len(said), len(classes)))
    whole[:, np.searchsorted(classes, known)] = said
    return whole


def out_of_fold(
    members: Sequence[Any],
    material: Material,
    splits: list[tuple[Rows, Rows]],
    methods: Sequence[str],
    team: Committee,
) -> list[Floats]:
    """What members say of rows that they were not fitted to; every row must be held out once."""
    held_out = np.concatenate([test for _, test in splits])
    n_rows = len(material.y)
    if len(held_out) != n_rows or len(np.unique(held_out)) != n_rows:
        raise ParameterError(
            "cv must hold every row out exactly once, but its folds leave some out or repeat "
            "them; use a number of folds."
        )
    parts = [(material.take(train), take_rows(material.rows, test)) for train, test in splits]
    jobs = [
        (_fit_and_say, (clone(member), method, part, k, rows))
        for k, (member, method) in enumerate(zip(members, methods, strict=True))
        for part, rows in parts
    ]
    said = _in_parallel(jobs, team.n_jobs, members, team._spoken(len(jobs), "fits to folds"))
    found = []
    for k in range(len(members)):
        pieces = said[k * len(splits) : (k + 1) * len(splits)]
        whole = np.empty((n_rows, pieces[0].shape[1]))
        for (_, test), piece in zip(splits, pieces, strict=True):
            whole[test] = piece
        found.append(whole)
    return found


def _fit(model: Any, material: Material, member: int) -> Any:
    metadata = material.for_members[member]
    if material.weight is None:
        model.fit(material.rows, material.y, **metadata)
        return model
    if not has_fit_parameter(model, "sample_weight"):
        raise DataError(
            f"sample_weight was given, but {type(model).__name__} does not support sample weights; "
            "leave the weights or that member out."
        )
    model.fit(material.rows, material.y, sample_weight=material.weight, **metadata)
    return model


def _fit_and_say(model: Any, method: str, material: Material, member: int, rows: Any) -> Floats:
    return answer(_fit(model, material, member), rows, method, material.classes)


def _in_parallel(
    jobs: list[tuple[Any, tuple[Any, ...]]],
    n_jobs: int | None,
    members: Sequence[Any],
    spoken: Spoken,
) -> list[Any]:
    """Results in order; threads where all members release the lock, processes else."""
    results: Iterable[Any] = (call(*arguments) for call, arguments in jobs)
    if threads(n_jobs) > 1:
        from sklearn.utils.parallel import Parallel, delayed

        ours = all(isinstance(member, TableInputMixin) for member in members)
        run = Parallel(
            n_jobs=threads(n_jobs), prefer="threads" if ours else None, return_as="generator"
        )
        results = run(delayed(call)(*arguments) for call, arguments in jobs)
    done = []
    for result in results:
        done.append(result)
        spoken(len(done))
    return done


# Rows


def as_rows(X: Any) -> Any:
    """Rows for estimators of other libraries: frames and matrices as they are, else an array."""
    from collections.abc import Mapping

    from narwhals.dependencies import is_into_dataframe
    from scipy.sparse import issparse
    from sklearn.utils import check_array

    if isinstance(X, Mapping) or type(X).__module__.startswith("pyarrow"):
        from treewright.tree.show.tables import as_frame

        return X.to_pandas() if hasattr(X, "to_pandas") else as_frame(X)
    if is_into_dataframe(X):
        return X
    if issparse(X):
        return X.tocsr()
    return check_array(X, dtype=None, ensure_all_finite=False)


def _refuse_sparse(X: Any, takers: Sequence[Any]) -> None:
    from scipy.sparse import issparse
    from sklearn.utils import get_tags

    for taker in takers if issparse(X) else ():
        if not get_tags(taker).input_tags.sparse:
            raise DataError(
                f"X must not be sparse for {type(taker).__name__}, got a sparse matrix; use "
                "X.toarray()."
            )


def _length(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _kinds(taker: Any) -> dict[str, Any]:
    """How a member, or a member of it, wants columns to be read, where it does not leave that."""
    default = {"categorical_features": "from_dtype", "ordinal_features": None}
    asked: dict[str, Any] = {}
    for key, value in taker.get_params().items():
        name = key.rpartition("__")[2]
        if name in default and repr(value) != repr(default[name]):
            asked[name] = value
    return asked


def _same_kinds(takers: Sequence[Any]) -> bool:
    """Whether all members read columns alike, so that one table serves them all."""
    first = repr(_kinds(takers[0]))
    return all(repr(_kinds(taker)) == first for taker in takers)


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], str)


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


def _shown(value: Any) -> str:
    from reprlib import repr as short

    return short(value)
