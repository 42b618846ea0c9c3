"""TableEncoder: a table of mixed columns becomes features."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from smtl import messages
from smtl.notebook import LinksToDocs
from smtl.registry import did_you_mean
from smtl.tables.frames import as_table
from smtl.tables.kinds import EMPTY, Kind, kind_of
from smtl.tables.one_hot import folded
from smtl.tables.parts import CategoryPart, DatePart, NumberPart, part_of

__all__ = ["TableEncoder"]

_SHOWN = 3  # values that a warning names


class TableEncoder(LinksToDocs, TransformerMixin, BaseEstimator):
    """Make features of a table: numbers, categories, texts, dates, each in its own way.

    What a column is, is told by its values. Numbers are scaled, and missing ones filled. Categories become a feature a
    level, short strings of many values the frequent ones and pieces of all, texts their words by TF-IDF, dates the
    trend, the calendar and the clock. Ids, row numbers, and columns that are empty or constant are left out.

    Parameters
    ----------
    number, category, text, date, ignore : sequence of str, default=()
        Columns that are to be taken as that, or left out, whatever they look like.

    Attributes
    ----------
    columns_ : list of dict
        What became of each column: ``column``, ``read_as``, ``features`` (how many) and ``why``.
    parts_ : list
        What makes the features, one a column that is used.
    feature_names_in_ : ndarray of str
        The columns.
    n_features_in_ : int
        Their number.

    Notes
    -----
    The result is sparse where there is text, and dense otherwise.

    A column that is missing later is taken as a column of missing values, with a warning; others that were not there in
    training are passed over. Levels that are new have none of the known levels' features. A category may come later as
    columns of 0 and 1 that are named like ``key=minor``.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"beat": [0.5, 0.7, None], "key": ["minor", "major", "minor"], "id": [7, 8, 9]})
    >>> encoder = TableEncoder(ignore=["id"]).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['beat', 'beat is missing', 'key=minor']
    >>> encoder.transform(table).round(2)
    array([[-1.22,  0.  ,  1.  ],
           [ 1.22,  0.  ,  0.  ],
           [ 0.  ,  1.  ,  1.  ]])
    """

    def __init__(
        self,
        *,
        number: Sequence[str] = (),
        category: Sequence[str] = (),
        text: Sequence[str] = (),
        date: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> None:
        self.number = number
        self.category = category
        self.text = text
        self.date = date
        self.ignore = ignore

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Find out what each column is.

        Parameters
        ----------
        X : DataFrame of pandas or Polars, pyarrow.Table, or array-like
            The table.
        y : None
            There for scikit-learn's sake.

        Returns
        -------
        TableEncoder
            Itself.
        """
        table = as_table(X)
        said = self._said(table.column_names)
        if table.num_rows == 0:
            raise ValueError("X must have rows, got a table with 0 samples; a minimum of 1 is required.")
        self.parts_, self.columns_ = [], []
        for name, column in zip(table.column_names, table.columns, strict=True):
            kind = kind_of(name, column)
            # Of a column without a value nothing can be learnt, whatever it is said to be.
            kind = kind if kind == EMPTY else said.get(name, kind)
            part = None
            if kind.name != "left out":
                try:
                    part = part_of(kind.name, name).fit(column)
                except (pa.ArrowException, TypeError, ValueError) as error:
                    raise ValueError(
                        f"column {name!r} cannot be taken as {kind.name}: {str(error).splitlines()[0]}"
                    ) from error
                if part.names:
                    self.parts_.append(part)
                else:
                    kind = Kind("left out", "has no words")
            n = 0 if part is None else len(part.names)
            self.columns_.append({"column": name, "read_as": kind.name, "features": n, "why": kind.why})
        self.feature_names_in_ = np.array(table.column_names, dtype=object)
        self.n_features_in_ = len(table.column_names)
        if not self.parts_:
            found = "; ".join(f"{entry['column']!r}: {entry['why']}" for entry in self.columns_[:5])
            raise ValueError(f"there must be at least one column that is a feature, got none ({found}).")
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file holds: numbers and what became of columns as JSON, not an object for each."""
        state = dict(super().__getstate__())
        if "parts_" in state:
            numbers = [part for part in self.parts_ if type(part) is NumberPart]
            state["parts_"] = {
                "columns": json.dumps([part.name for part in self.parts_]),
                "numbers": json.dumps([part.__dict__ for part in numbers]),
                "others": [part for part in self.parts_ if type(part) is not NumberPart],
            }
            state["columns_"] = json.dumps(self.columns_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "parts_" in state:
            packed = state["parts_"]
            parts = {part.name: part for part in packed["others"]}
            for known in json.loads(packed["numbers"]):
                part = parts[known["name"]] = NumberPart(known["name"])
                part.__dict__.update(known)
            order = [parts[name] for name in json.loads(packed["columns"])]
            state = state | {"parts_": order, "columns_": json.loads(state["columns_"])}
        super().__setstate__(state)

    def _said(self, names: Sequence[str]) -> dict[str, Kind]:
        """Return what the user says of columns."""
        said: dict[str, Kind] = {}
        kinds: Mapping[str, tuple[Sequence[str], Kind]] = {
            "number": (self.number, Kind("number", "as told")),
            "category": (self.category, Kind("category", "as told")),
            "text": (self.text, Kind("text", "as told")),
            "date": (self.date, Kind("date", "as told")),
            "ignore": (self.ignore, Kind("left out", "as told")),
        }
        for option, (columns, kind) in kinds.items():
            for name in [columns] if isinstance(columns, str) else columns:
                if name not in names:
                    raise ValueError(
                        f"{option} must name columns of the table, got {name!r} instead{did_you_mean(name, names)}."
                    )
                if said.setdefault(name, kind) is not kind:
                    raise ValueError(f"a column must be said to be one thing, got two for {name!r}.")
        return said

    def transform(self, X: Any) -> Any:
        """Return the features of a table.

        Parameters
        ----------
        X : DataFrame of pandas or Polars, pyarrow.Table, or array-like
            The table, its columns in any order.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features)
            Features.
        """
        check_is_fitted(self)
        table = folded(as_table(X), [part.name for part in self.parts_])
        there = set(table.column_names)
        missing = [part.name for part in self.parts_ if part.name not in there]
        if missing:
            if len(missing) == len(self.parts_):
                raise ValueError(f"X must have columns of the training data, such as {missing[0]!r}, got none.")
            messages.warn(f"Columns are missing, and taken as missing values: {', '.join(map(repr, missing))}.")
        nothing = pa.chunked_array([pa.nulls(table.num_rows, pa.string())])
        blocks = [part.transform(table.column(part.name) if part.name in there else nothing) for part in self.parts_]
        if self.sparse_output_:
            return sp.hstack([sp.csr_matrix(block) for block in blocks], format="csr")
        return np.hstack([block.toarray() if sp.issparse(block) else block for block in blocks])

    @property
    def sparse_output_(self) -> bool:
        """Whether the features are sparse: where there is text."""
        return any(entry["read_as"] in ("text", "strings") for entry in self.columns_)

    def new_values(self, X: Any) -> list[str]:
        """Return a sentence for each category with levels that the training data did not have.

        Parameters
        ----------
        X : DataFrame of pandas or Polars, pyarrow.Table, or array-like
            The table.

        Returns
        -------
        list of str
            The sentences.
        """
        return self.in_words(self.new_levels(as_table(X)))

    def new_levels(self, table: pa.Table) -> dict[str, dict[str, int]]:
        """Return, for each category with levels that are new, these and in how many rows they are.

        Of dates, and of numbers that were written as text in training, new words among them.

        Parameters
        ----------
        table : pyarrow.Table
            The table.

        Returns
        -------
        dict of str to dict
            By column.
        """
        table = folded(table, [part.name for part in self.parts_])
        names = set(table.column_names)
        kinds = CategoryPart | DatePart | NumberPart
        some = [part for part in self.parts_ if isinstance(part, kinds) and part.name in names]
        found = {part.name: part.new(table.column(part.name)) for part in some}
        return {name: new for name, new in found.items() if new}

    def in_words(self, new: Mapping[str, Mapping[str, int]]) -> list[str]:
        """Return a sentence for each column with new levels.

        Parameters
        ----------
        new : dict
            See `new_levels`.

        Returns
        -------
        list of str
            The sentences.
        """
        of_words = {part.name for part in self.parts_ if isinstance(part, NumberPart | DatePart)}
        return [
            f"column {name!r} has {'words' if name in of_words else 'values'} that the training data did not have, in "
            f"{sum(seen.values()):,} row{'s' * (sum(seen.values()) > 1)}: {', '.join(map(repr, list(seen)[:_SHOWN]))}"
            f"{', ...' if len(seen) > _SHOWN else ''}; they count as "
            f"{'missing' if name in of_words else 'none of the known values'}."
            for name, seen in new.items()
        ]

    def affine(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return what is taken off each feature, and what the rest is divided by, after columns have become features.

        Returns
        -------
        center, scale : ndarray of shape (n_features,)
            0 and 1 for features that are not scaled. A number that is missing counts as its center.
        """
        center, scale = (
            np.concatenate(values) for values in zip(*(part.affine() for part in self.parts_), strict=True)
        )
        return center, scale

    def groups(self) -> list[list[int]]:
        """Return, for each column that is used, the positions of its features.

        Returns
        -------
        list of list of int
            In the order of ``parts_``.
        """
        ends = np.cumsum([0, *(len(part.names) for part in self.parts_)]).tolist()
        return [list(range(first, end)) for first, end in itertools.pairwise(ends)]

    def number_columns(self) -> list[str]:
        """Return the columns that are numbers, and were no text in training.

        Returns
        -------
        list of str
            Names.
        """
        return [part.name for part in self.parts_ if isinstance(part, NumberPart) and not part.from_text]

    def unscaled(self, X: Any) -> Any:
        """Return what the columns of a table become, before it is scaled: what an exported model takes.

        Parameters
        ----------
        X : DataFrame of pandas or Polars, pyarrow.Table, or array-like
            The table.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features)
            Features. A number that is missing is its mean.
        """
        center, scale = self.affine()
        Z = self.transform(X)
        if sp.issparse(Z):
            return sp.csr_matrix(Z @ sp.diags_array(scale) + np.broadcast_to(center, Z.shape))
        return Z * scale + center

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            There for scikit-learn's sake.

        Returns
        -------
        ndarray of str
            Names.
        """
        check_is_fitted(self)
        return np.array([name for part in self.parts_ for name in part.names], dtype=object)

    def made_up(self, n_rows: int) -> pa.Table:
        """Return rows that look like those of the training data, always the same: to see that a model is what it was.

        Parameters
        ----------
        n_rows : int
            How many.

        Returns
        -------
        pyarrow.Table
            The rows.
        """
        check_is_fitted(self)
        return pa.table({part.name: part.made_up(n_rows) for part in self.parts_})
