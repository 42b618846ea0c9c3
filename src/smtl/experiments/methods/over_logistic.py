"""The methods that turn labels into other labels, over logistic regression."""

from __future__ import annotations

from typing import Any, ClassVar

from smtl.experiments.methods.base import Method, Search
from smtl.experiments.methods.searching import grid, logistic, searched, small

__all__ = ["BR", "ECC", "HOMER", "LP", "MLCSSP", "RAkEL"]

_CS = (1e-2, 10.0)  # where the grid of C begins and ends


class _OverLogistic(Method):
    """A baseline over logistic regression, whose C is chosen by macro F1."""

    in_words: ClassVar[str]

    @property
    def about(self) -> str:
        return (
            f"{self.in_words}, over logistic regression; at most 3 values of C from {_CS[0]:g} to {_CS[1]:g}, chosen "
            "by macro F1 on at most 3 folds"
        )

    def make(self, search: Search) -> Any:
        from smtl.baselines import Baseline

        model = Baseline.known[self.name](logistic(search))
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=search.seed)
        search = small(search)
        return searched(model, "estimator__C", grid(*_CS, search.n_values), search)


class RAkEL(_OverLogistic):
    """Random k-label sets."""

    name, title, order = "rakel", "RAkEL", 41
    in_words = "k = 3, 2 m label sets"


class MLCSSP(_OverLogistic):
    """A choice of labels."""

    name, title, order = "mlcssp", "MLCSSP", 42
    in_words = "a tenth of the labels drawn, at least 4"


class HOMER(_OverLogistic):
    """A hierarchy of label sets."""

    name, title, order = "homer", "HOMER", 44
    in_words = "balanced 3-means"


class BR(_OverLogistic):
    """Binary relevance."""

    name, title, order = "br", "BR", 45
    in_words = "one model a label"


class LP(_OverLogistic):
    """Label powerset."""

    name, title, order = "lp", "LP", 46
    in_words = "each label set a class"


class ECC(_OverLogistic):
    """An ensemble of classifier chains."""

    name, title, order = "ecc", "ECC", 47
    in_words = "10 chains"
