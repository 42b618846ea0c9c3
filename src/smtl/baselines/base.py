"""What a baseline is: an estimator of scikit-learn's manner that is found by its name."""

from __future__ import annotations

from typing import Any, ClassVar

from smtl.registry import Named

__all__ = ["Baseline", "baseline_names"]


class Baseline(Named):
    """A method to compare with. A subclass that sets ``name`` can be named in a comparison, too.

    It is an estimator of scikit-learn's manner besides: a subclass of `sklearn.base.BaseEstimator`.

    Attributes
    ----------
    name : str
        A subclass that sets it is found under it.

    Examples
    --------
    >>> from smtl.baselines import Baseline
    >>> Baseline.known["lp"]()
    LabelPowerset()
    """

    known: ClassVar[dict[str, type[Any]]] = {}


def baseline_names() -> list[str]:
    """Return the names of the baselines.

    Returns
    -------
    list of str
        Sorted.

    Examples
    --------
    >>> from smtl.baselines import baseline_names
    >>> "rakel" in baseline_names()
    True
    """
    return sorted(Baseline.known)
