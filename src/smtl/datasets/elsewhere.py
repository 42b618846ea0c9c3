"""The named sets that are there without a file of their own: carried by packages, or fetched from OpenML."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError
from smtl.datasets.formats.csv import read_csv
from smtl.datasets.nominal import Nominal
from smtl.datasets.parts import key

__all__ = ["fetch", "of_a_bunch", "read_digits", "read_river_segmentation", "read_river_yeast"]

_MOST_UNPACKED = 2**26


def read_digits(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Return scikit-learn's own digits, one label for each."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    Y = (bunch.target[:, None] == bunch.target_names).astype(np.int8)
    return Dataset(bunch.data, Y, tuple(bunch.feature_names), tuple(map(str, bunch.target_names)))


def read_river_yeast(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Read river's table of yeast."""
    return read_csv(paths[0], labels=[f"Class{k}" for k in range(1, 15)])


def read_river_segmentation(paths: Sequence[Path], nominal: Nominal) -> Dataset:
    """Read river's table of segmentation: zipped, without the feature that is always 9, with the class last.

    It went through a parser that missed some numbers by their last bit; 15 digits bring back what was published.
    """
    path = paths[0]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "segment.csv")
        table.write_bytes(_unzipped(path))
        try:
            data = read_csv(table, class_column="category")
        except DatasetError as error:
            raise DatasetError(error.message, path, error.line, error.column) from error
    X = np.array([float(f"{value:.15g}") for value in data.X.ravel().tolist()]).reshape(data.X.shape)
    return Dataset(np.insert(X, min(2, X.shape[1]), 9.0, axis=1), data.Y, None, data.label_names)


def _unzipped(path: Path) -> bytes:
    """Return the only member of an archive, unless it is too large; nothing is written where a member says."""
    try:
        with zipfile.ZipFile(path) as archive:
            (member,) = archive.infolist()
            with archive.open(member) as file:
                content = file.read(_MOST_UNPACKED + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise DatasetError(f"must be a zip archive of one table, got a damaged one ({error}).", path) from error
    if len(content) > _MOST_UNPACKED:
        raise DatasetError(f"its table must have at most {_MOST_UNPACKED:,} bytes, got more.", path)
    return content


def fetch(data_id: int) -> Mapping[str, Any]:
    """Return a data set of OpenML's, through scikit-learn, which keeps a copy in its own cache; see `of_a_bunch`."""
    from sklearn.datasets import fetch_openml

    # This parser reads numbers exactly, and needs no pandas.
    bunch: Mapping[str, Any] = fetch_openml(
        data_id=data_id, as_frame=False, target_column=None, parser="liac-arff", n_retries=1, delay=0.5
    )
    return bunch


def of_a_bunch(bunch: Mapping[str, Any], labels: Sequence[str]) -> Dataset:
    """Return the data set in what ``fetch_openml(..., as_frame=False, target_column=None)`` returns.

    Parameters
    ----------
    bunch : mapping
        ``data`` with all columns, nominal ones as the positions of their values; ``feature_names``, the columns'
        names; ``categories``, the values of the nominal ones.
    labels : sequence of str
        The names of the label columns or, if the set has one column of classes, of the classes.

    Returns
    -------
    Dataset
        The labels' columns as Y; all others as X.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([[0.5, 1.0], [0.7, 0.0]])
    >>> bunch = {"data": values, "feature_names": ["x", "kind"], "categories": {"kind": ["path", "sky"]}}
    >>> of_a_bunch(bunch, ["PATH", "SKY"]).Y
    array([[0, 1],
           [1, 0]], dtype=int8)
    """
    values, names = bunch["data"], [str(name) for name in bunch["feature_names"]]
    values = values.toarray() if sp.issparse(values) else np.asarray(values, dtype=np.float64)
    categories = {str(name): list(map(str, found)) for name, found in (bunch.get("categories") or {}).items()}
    wanted = set(map(key, labels))
    columns = [j for j, name in enumerate(names) if key(name) in wanted]
    label_names = [names[j] for j in columns]
    Y = np.empty((len(values), len(columns)), dtype=np.int8)
    for k, j in enumerate(columns):
        # TRUE and FALSE come in either order.
        truths = [key(value) in ("1", "true") for value in categories.get(names[j], ["0", "1"])]
        Y[:, k] = np.array(truths)[values[:, j].astype(np.intp)]
    if not columns:
        columns = [j for j, name in enumerate(names) if set(map(key, categories.get(name, []))) == wanted]
        if len(columns) != 1:
            raise ValueError(f"must have one column with the classes {', '.join(labels)}, got {len(columns)}")
        label_names = categories[names[columns[0]]]
        Y = (values[:, columns] == np.arange(len(label_names))).astype(np.int8)
    features = [j for j in range(len(names)) if j not in set(columns)]
    return Dataset(values[:, features], Y, tuple(names[j] for j in features), tuple(label_names))
