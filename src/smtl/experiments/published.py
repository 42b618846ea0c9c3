"""The figures that the paper prints, under the names of our methods and measures."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

__all__ = [
    "PAPER",
    "PAPER_MEASURES",
    "Printed",
    "best_smtl",
    "is_doubtful",
    "paper_dataset",
    "paper_seconds",
    "paper_value",
    "title_of_dataset",
]

PAPER = (
    "G.-Y. Ke, Y. Pan, J. Yin and C.-Q. Huang, Optimizing Evaluation Metrics for Multi-Task Learning via the "
    "Alternating Direction Method of Multipliers, IEEE Transactions on Cybernetics, 2017"
)
PAPER_MEASURES = ("macro_f1", "micro_f1", "auc")

_NAMES = {
    "StructSVM": "struct-svm",
    "RAkEL": "rakel",
    "MLCSSP": "mlcssp",
    "AdaBoostMH": "adaboost-mh",
    "HOMER": "homer",
    "BR": "br",
    "LP": "lp",
    "ECC": "ecc",
}


class Printed(NamedTuple):
    """A figure of the paper's tables, as a share: it prints percent.

    Examples
    --------
    >>> Printed(0.565, 0.005).mean
    0.565
    """

    mean: float
    std: float


def _method(row: dict[str, str]) -> str:
    if row["method"] == "SMTL":
        return f"smtl-{row['target']}-{row['regularizer']}"
    return _NAMES.get(row["method"]) or f"{row['method'].lower()}-{row['regularizer']}"


def _rows(name: str) -> Iterator[dict[str, str]]:
    yield from csv.DictReader((files("smtl.experiments") / name).read_text(encoding="utf-8").splitlines())


@lru_cache(maxsize=1)
def _results() -> dict[tuple[str, str, str], Printed]:
    return {
        (row["dataset"].lower(), _method(row), measure): Printed(
            float(row[measure]) / 100.0, float(row[f"{measure}_std"]) / 100.0
        )
        for row in _rows("paper_results.csv")
        for measure in PAPER_MEASURES
    }


@lru_cache(maxsize=1)
def _titles() -> dict[str, str]:
    return {row["dataset"].lower(): row["dataset"] for row in _rows("paper_results.csv")}


@lru_cache(maxsize=1)
def _seconds() -> dict[tuple[str, str], float]:
    return {
        (key.removesuffix("_s"), _method(row)): float(value)
        for row in _rows("paper_timing.csv")
        for key, value in row.items()
        if key.endswith("_s")
    }


def paper_dataset(name: str) -> str | None:
    """Return under which name the paper has a data set.

    Parameters
    ----------
    name : str
        Ours; a variant may stand behind a colon.

    Returns
    -------
    str or None
        In small letters; None if it is not in the paper.

    Examples
    --------
    >>> paper_dataset("mediamill:paper"), paper_dataset("landmine")
    ('mediamill', None)
    """
    base = name.partition(":")[0].lower()
    return base if base in _titles() else None


def title_of_dataset(name: str) -> str:
    """Return what a data set is called in the tables: as in the paper, if it is there.

    Parameters
    ----------
    name : str
        Ours.

    Returns
    -------
    str
        The title.

    Examples
    --------
    >>> title_of_dataset("tmc2007:paper"), title_of_dataset("digits")
    ('TMC2007', 'digits')
    """
    known = paper_dataset(name)
    return name if known is None else _titles()[known]


def paper_value(dataset: str, method: str, measure: str) -> Printed | None:
    """Return what the paper prints.

    Parameters
    ----------
    dataset, method, measure : str
        Our names.

    Returns
    -------
    Printed or None
        Mean and standard deviation over its ten splits; None if it has no such figure.

    Examples
    --------
    >>> paper_value("cal500", "smtl-auc-l21", "auc")
    Printed(mean=0.56505, std=0.00511)
    """
    return _results().get((paper_dataset(dataset) or "", method, measure))


def best_smtl(dataset: str, measure: str) -> float | None:
    """Return the best value of the paper's six SMTL variants.

    Parameters
    ----------
    dataset, measure : str
        Our names.

    Returns
    -------
    float or None
        The mean over its splits; None if the data set or the measure is not in the paper.

    Examples
    --------
    >>> best_smtl("cal500", "auc")
    0.56798
    """
    known = paper_dataset(dataset)
    values = [
        printed.mean
        for (where, method, what), printed in _results().items()
        if where == known and what == measure and method.startswith("smtl-")
    ]
    return max(values, default=None)


def is_doubtful(dataset: str, method: str) -> bool:
    """Say whether the paper's row is not to be relied on.

    On MediaMill its rows of HOMER and AdaBoostMH are the same to the last digit.

    Parameters
    ----------
    dataset, method : str
        Our names.

    Returns
    -------
    bool
        Whether it is one of those.

    Examples
    --------
    >>> is_doubtful("mediamill", "homer"), is_doubtful("yeast", "homer")
    (True, False)
    """
    return paper_dataset(dataset) == "mediamill" and method in ("homer", "adaboost-mh")


def paper_seconds(dataset: str, method: str) -> float | None:
    """Return the training time that the paper prints, on a processor of 1.9 GHz with Python 2.7.

    Parameters
    ----------
    dataset, method : str
        Our names.

    Returns
    -------
    float or None
        Seconds; None if it has no such figure.

    Examples
    --------
    >>> paper_seconds("optdigits", "smtl-f1-l11")
    510.9
    """
    return _seconds().get((paper_dataset(dataset) or "", method))
