"""The columns of new data and the features of a model, matched by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from smtl.datasets import Dataset
from smtl.datasets.errors import shown
from smtl.tables.data import TableData
from smtl.tables.frames import is_frame
from smtl.tables.values import MISSING

__all__ = ["Matching", "arranged", "as_columns", "match_columns", "new_values"]

Float: TypeAlias = npt.NDArray[np.float64]

# Rows whose values a model has not seen are counted; of the values, so many are told.
_VALUES = 3
_NAMES = 8


@dataclass
class Matching:
    """How the columns of a table become features.

    Attributes
    ----------
    n_features : int
        Of the model.
    numeric : dict of str to int
        For each numeric column, the feature; in the order of the features.
    nominal : dict of str to dict
        For each nominal column, the feature of each value.
    new_values : dict of str to dict
        For each nominal column, values that the model does not know, and in how many rows they were.
    """

    n_features: int
    numeric: dict[str, int] = field(default_factory=dict)
    nominal: dict[str, dict[str, int]] = field(default_factory=dict)
    new_values: dict[str, dict[str, int]] = field(default_factory=dict)

    def features(self, numbers: Float, texts: Mapping[str, Sequence[str | None]]) -> Float:
        """Return the features of some rows.

        Parameters
        ----------
        numbers : ndarray of shape (n_rows, n_numeric)
            The columns of `numeric`, in that order, with NaN for missing values.
        texts : mapping
            The columns of `nominal`, with None for missing values. What CSV files have for a missing value is one, too,
            unless the model knows it as a value.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            Features; ``numbers`` itself if that is all there is.
        """
        if not self.nominal:
            return numbers
        X = np.zeros((len(numbers), self.n_features))
        X[:, list(self.numeric.values())] = numbers
        for name, places in self.nominal.items():
            values = texts[name]
            codes: dict[str | None, int] = {value: k for k, value in enumerate(dict.fromkeys(values))}
            row_codes = np.fromiter((codes[value] for value in values), dtype=np.intp, count=len(values))
            for value, code in codes.items():
                rows = row_codes == code
                if value in places:
                    X[rows, places[value]] = 1.0
                elif value is None or value in MISSING:
                    X[np.ix_(rows, list(places.values()))] = np.nan
                else:
                    seen = self.new_values.setdefault(name, {})
                    seen[value] = seen.get(value, 0) + int(rows.sum())
        return X

    def warnings(self) -> list[str]:
        """Return a sentence for each column with values that the model does not know."""
        return _warnings(self.new_values)


def _warnings(new: Mapping[str, Mapping[str, int]]) -> list[str]:
    return [
        f"column {shown(name)} has values that the training data did not have, in "
        f"{sum(seen.values()):,} row{'s' * (sum(seen.values()) > 1)}: "
        f"{', '.join(map(shown, list(seen)[:_VALUES]))}{', ...' if len(seen) > _VALUES else ''}; they count as "
        "none of the known values."
        for name, seen in new.items()
    ]


def match_columns(columns: Sequence[str], features: Sequence[str], others: Collection[str] = ()) -> Matching:
    """Match the columns of a table with the features of a model, in whichever order they are.

    Parameters
    ----------
    columns : sequence of str
        Of the table. One that is no feature but has features named ``column=value`` is nominal.
    features : sequence of str
        Of the model.
    others : collection of str
        Columns that may be there though they are no features: labels, tasks, what the user says.

    Returns
    -------
    Matching
        Which column is which feature.

    Raises
    ------
    ValueError
        With the names of features that are missing, and of columns that are unknown.

    Examples
    --------
    >>> found = match_columns(["key", "beat", "calm"], ["beat", "key=major", "key=minor"], ["calm"])
    >>> found.features(np.array([[0.5], [0.7]]), {"key": ["minor", "major"]})
    array([[0.5, 0. , 1. ],
           [0.7, 1. , 0. ]])
    >>> match_columns(["beta"], ["beat"])
    Traceback (most recent call last):
        ...
    ValueError: the columns must be the features of the model: 'beat' is missing; 'beta' is unknown.
    """
    place = {name: j for j, name in enumerate(features)}
    present = set(columns)
    values: dict[str, dict[str, int]] = {}
    for name, j in place.items():
        if name not in present:
            for at in (k for k, character in enumerate(name) if character == "="):
                values.setdefault(name[:at], {})[name[at + 1 :]] = j
    found = Matching(len(features))
    unknown = []
    for name in columns:
        if name in place:
            found.numeric[name] = place[name]
        elif name in others:
            continue
        elif name in values:
            found.nominal[name] = values[name]
        else:
            unknown.append(name)
    found.numeric = dict(sorted(found.numeric.items(), key=lambda item: item[1]))
    given = {*found.numeric.values(), *(j for places in found.nominal.values() for j in places.values())}
    refuse([name for name, j in place.items() if j not in given], unknown)
    return found


def refuse(missing: Sequence[str], unknown: Sequence[str]) -> None:
    """Raise ValueError if a feature is missing or a column unknown."""
    if not missing and not unknown:
        return
    parts = [
        f"{', '.join(map(shown, names[:_NAMES]))}{f' and {len(names) - _NAMES} more' if len(names) > _NAMES else ''} "
        f"{'is' if len(names) == 1 else 'are'} {what}"
        for names, what in ((missing, "missing"), (unknown, "unknown"))
        if names
    ]
    raise ValueError(f"the columns must be the features of the model: {'; '.join(parts)}.")


def arranged(data: Dataset, features: Sequence[str], named: bool, encoder: Any = None) -> Any:
    """Return the features of a data set in the order that a model has them in.

    Parameters
    ----------
    data : Dataset
        The data. Without names, its features are taken by their position, and those at the end of a sparse matrix may
        be missing.
    features : sequence of str
        Of the model.
    named : bool
        Whether these are names that the training data had.
    encoder : TableEncoder, optional
        Of a model of tables: what takes their columns, in whichever order they are.

    Returns
    -------
    ndarray, CSR matrix or pyarrow.Table of shape (n_samples, n_features)
        The features.

    Examples
    --------
    >>> data = Dataset(np.array([[1.0, 2.0]]), np.array([[0]]), ("b", "a"))
    >>> arranged(data, ["a", "b"], named=True)
    array([[2., 1.]])
    """
    X, d = data.X, len(features)
    if encoder is not None:
        return X if isinstance(data, TableData) else as_columns(data, features).X
    if is_frame(X):  # of a pipeline that takes data frames
        return X
    if data.feature_names is None or not named:
        return _by_position(X, d)
    have = {name: j for j, name in enumerate(data.feature_names)}
    _check_names(have, features)
    present = [(j, have[name]) for j, name in enumerate(features) if name in have]
    to, source = ([pair[side] for pair in present] for side in (0, 1))
    if len(present) == d:
        return X[:, source]
    choose = sp.csr_matrix((np.ones(len(to)), (source, to)), shape=(X.shape[1], d))
    if sp.issparse(X):
        return sp.csr_matrix(X @ choose)
    placed = np.zeros((X.shape[0], d))
    placed[:, to] = X[:, source]
    return placed


def _by_position(X: Any, d: int) -> Any:
    """Return features without names: as many as the model has; a sparse matrix may lack the last ones."""
    if sp.issparse(X) and X.shape[1] <= d:
        return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
    if X.shape[1] != d:
        raise ValueError(f"there must be {d} features, as the model has, got {X.shape[1]} instead.")
    return X


def _check_names(have: Collection[str], features: Sequence[str]) -> None:
    """Raise where features are missing or unknown, but for values of a nominal column.

    A file that declares other values of such a column has other columns for them.
    """
    nominal, known = _nominal(tuple(have), features), set(features)
    missing = [name for name in features if name not in have and name.partition("=")[0] not in nominal]
    unknown = dict.fromkeys(name.partition("=")[0] for name in have if name not in known)
    refuse(missing, [column for column in unknown if column not in nominal])


def as_columns(data: Dataset, features: Sequence[str]) -> TableData:
    """Return a data set with its features as the columns of a table, for a model of tables.

    Parameters
    ----------
    data : Dataset
        The data.
    features : sequence of str
        Columns of the model. They are those of data without names, by position.

    Returns
    -------
    TableData
        The same rows and labels.

    Examples
    --------
    >>> as_columns(Dataset(np.array([[1.0, 2.0]]), np.array([[0]])), ["beat", "year"]).X.to_pydict()
    {'beat': [1.0], 'year': [2.0]}
    """
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    names = tuple(data.feature_names or features)
    if len(names) != X.shape[1]:
        raise ValueError(f"there must be {len(names)} features, as the model has, got {X.shape[1]} instead.")
    # NaN is what a matrix has for a missing value.
    table = pa.table({name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(names)})
    return TableData(table, data.Y, names, data.label_names, data.tasks, data.name)


def _nominal(names: Sequence[str], features: Sequence[str]) -> set[str]:
    """Return the nominal columns that data and model share; of each, the two may know different values."""
    columns = ({name.partition("=")[0] for name in some if "=" in name} for some in (names, features))
    return set.intersection(*columns)


def new_values(data: Dataset, features: Sequence[str]) -> list[str]:
    """Return a sentence for each nominal column of a data set with values that a model does not know.

    Parameters
    ----------
    data : Dataset
        The data.
    features : sequence of str
        Of the model.

    Returns
    -------
    list of str
        The sentences.

    Examples
    --------
    >>> data = Dataset(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0], [1]]), ("key=dorian", "key=minor"))
    >>> print(*new_values(data, ["key=major", "key=minor"]))
    column 'key' has values that the training data did not have, in 1 row: 'dorian'; they count as none of the known
    values.
    """
    names = data.feature_names or ()
    nominal, known = _nominal(names, features), set(features)
    found: dict[str, dict[str, int]] = {}
    for j, name in enumerate(names):
        column, _, value = name.partition("=")
        if column in nominal and name not in known:
            n_rows = int((data.X[:, [j]] == 1.0).sum())
            if n_rows:
                found.setdefault(column, {})[value] = n_rows
    return _warnings(found)
