"""Tables in a study: files whose columns become features for all methods alike, and what is printed in the end."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtl.cli._errors import CommandError
from smtl.cli._model_options import plain_table, writing_errors
from smtl.cli._reading import is_table, one_line_errors, read_data
from smtl.terminal import clean_console

if TYPE_CHECKING:
    from smtl.experiments import Results

__all__ = ["prepared_tables", "print_scores", "that_take_missing"]

FREQUENT = 0.1  # share of the rows from which on a feature that is not 0 stays by itself
# Of words: on the tickets of tests/tickets.py 100 leave logistic regression a mean AUC of 0.65, 500 of 0.85, all 0.84.
DIRECTIONS = 500

_MEASURES = {"macro_f1": "Mean F1", "micro_f1": "Micro F1", "auc": "Mean AUC"}


def prepared_tables(names: Sequence[str], reading: dict[str, Any], out: Path) -> list[str]:
    """Return data for a study, with a file of features in the place of each table that is not one already.

    Text is reduced to its leading directions. What becomes of columns does not look at the labels, so it is done once.

    Parameters
    ----------
    names : sequence of str
        Named sets, and files.
    reading : dict
        The options that tell how tables are to be read.
    out : Path
        The folder of the study.

    Returns
    -------
    list of str
        Names, and files.
    """
    from smtl.datasets import dataset_names

    given = any(value is not None for value in reading.values())
    found: list[str] = []
    for name in names:
        path = Path(name)
        known = name.partition(":")[0] in dataset_names()
        if known or not path.is_file() or not (_is_table(name, reading) and (given or not _is_plain(name))):
            if given and not known and path.is_file():
                raise CommandError(f"{name}: options of tables go with tables: CSV, Parquet, JSON lines, Excel.")
            found.append(name)
            continue
        path = _prepared(name, reading, out, found)
        found.append(str(path))
    return found


def _is_table(name: str, reading: dict[str, Any]) -> bool:
    with one_line_errors():
        return is_table(name, reading)


def _is_plain(name: str) -> bool:
    """Return whether a table has numbers only, and labels that are marked."""
    import pyarrow as pa

    from smtl.datasets.columns import LABEL
    from smtl.tables.reading import read_table

    with one_line_errors():
        table = read_table(name)
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    marked = any(column.startswith(LABEL) for column in table.column_names)
    return marked and all(any(check(kind) for check in numbers) for kind in table.schema.types)


def _prepared(name: str, reading: dict[str, Any], out: Path, others: Sequence[str]) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import scipy.sparse as sp

    from smtl.datasets.columns import LABEL, TASK
    from smtl.tables.matrix import encoded
    from smtl.whole_file import whole_file

    with one_line_errors():
        data, encoder = encoded(read_data(name, reading))  # type: ignore[arg-type]
        X, names = data.X, list(data.feature_names or ())
        if sp.issparse(X):
            X, names = _dense(X, names)
    Y = data.Y.reshape(len(data.Y), -1)
    labels = list(data.label_names or ())
    columns = {column: X[:, j] for j, column in enumerate(names)}
    columns |= {f"{LABEL}{label}": Y[:, j].astype(float) for j, label in enumerate(labels)}
    if data.tasks is not None:
        columns[TASK] = [str(task) for task in data.tasks.tolist()]
    left_out = [entry["column"] for entry in encoder.columns_ if entry["read_as"] == "left out"]
    told = f"; left out: {', '.join(left_out)}" if left_out else ""
    print(f"{name}: {X.shape[1]:,} features, labels: {len(labels):,}{told}.", file=sys.stderr)
    path = out / "data" / f"{data.name}.parquet"
    if str(path) in others:
        raise CommandError(f"{name}: another of the tables is called {data.name!r}, too; rename the file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part:
            pq.write_table(pa.table(columns), part)
    except OSError as error:
        raise writing_errors(path, error) from error
    return path


def _dense(X: Any, names: Sequence[str]) -> tuple[Any, list[str]]:
    """Return sparse features as a dense matrix: frequent ones as they are, the leading directions of the others."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.decomposition import TruncatedSVD

    X = sp.csc_array(X)
    often = np.diff(X.indptr) >= FREQUENT * X.shape[0]
    kept, rest = np.flatnonzero(often), np.flatnonzero(~often)
    if min(len(rest), X.shape[0]) <= DIRECTIONS:
        return X.toarray(), list(names)
    found = TruncatedSVD(DIRECTIONS, random_state=0).fit_transform(X[:, rest].tocsr())
    told = [names[int(j)] for j in kept] + [f"text {k + 1}" for k in range(DIRECTIONS)]
    return np.hstack([X[:, kept].toarray(), found]), told


def that_take_missing(methods: Sequence[str], datasets: Sequence[str]) -> list[str]:
    """Return the methods, without those that cannot learn where labels are missing if some are; tell which.

    Parameters
    ----------
    methods : sequence of str
        Methods.
    datasets : sequence of str
        Data that can be read.

    Returns
    -------
    list of str
        The methods to run.
    """
    import numpy as np

    from smtl.experiments.imbalance import parse_ratio
    from smtl.experiments.study_data import load_for_study

    missing = any(np.isnan(load_for_study(parse_ratio(name)[0])[1].astype(float)).any() for name in datasets)
    kept = [name for name in methods if _takes_missing(name)] if missing else list(methods)
    left_out = [name for name in methods if name not in kept]
    if left_out:
        print(f"Left out, because labels are missing: {', '.join(left_out)}.", file=sys.stderr)
    if not kept:
        raise CommandError("no method is left: none of them can learn where labels are missing; try --methods smtl.")
    return kept


def _takes_missing(name: str) -> bool:
    """Return whether a method fits a tiny set with a label missing."""
    import numpy as np
    from sklearn.model_selection import GridSearchCV

    from smtl.experiments.methods import Search, get_method

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = (X[:, :2] + rng.normal(size=(40, 2)) > 0.0).astype(float)
    Y[::7, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = get_method(name).make(Search(cv=2, n_values=2))
        model = model.estimator if isinstance(model, GridSearchCV) else model
        try:
            model.fit(X, Y)
        except ValueError as error:
            return "missing labels" not in str(error) and "NaN" not in str(error)
    return True


def print_scores(results: Results) -> None:
    """Print, for each data set, what the methods score.

    Parameters
    ----------
    results : Results
        Of a study.
    """
    import numpy as np
    from rich.markup import escape

    console = clean_console()
    means = {measure: results.mean(measure) for measure in _MEASURES}
    errors = {measure: results.std(measure) / np.sqrt(np.maximum(results.counts(measure), 1)) for measure in _MEASURES}
    for d, dataset in enumerate(results.datasets):
        table = plain_table()
        table.add_column(escape(Path(dataset).name if Path(dataset).is_file() else dataset), overflow="fold")
        for title in _MEASURES.values():
            table.add_column(title, justify="right", no_wrap=True)
        order = np.argsort(np.nan_to_num(-means["macro_f1"][d], nan=np.inf), kind="stable")
        for m in order:
            cells = [_cell(means[measure][d, m], errors[measure][d, m]) for measure in _MEASURES]
            table.add_row(escape(results.methods[m]), *cells)
        console.print(table)


def _cell(mean: float, error: float) -> str:
    return "-" if mean != mean else f"{mean:.3f}" + (f" ±{error:.3f}" if error == error else "")
