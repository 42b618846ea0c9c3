"""AdaBoost.MH, with the number of rounds chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from smtl.experiments.methods.base import Method, Search
from smtl.experiments.methods.searching import grid, searched, small

__all__ = ["AdaBoostMH"]

_ROUNDS = (25, 200)  # where the grid of rounds begins and ends


class AdaBoostMH(Method):
    """AdaBoost.MH."""

    name, title, order = "adaboost-mh", "AdaBoostMH", 43
    about = (
        f"decision stumps; at most 3 numbers of rounds from {_ROUNDS[0]} to {_ROUNDS[1]}, chosen by macro F1 on at "
        "most 3 folds"
    )

    def make(self, search: Search) -> Any:  # noqa: D102
        from smtl import baselines

        search = small(search)
        rounds = np.unique(grid(*_ROUNDS, search.n_values).astype(int))
        return searched(baselines.AdaBoostMH(), "n_estimators", rounds, search)
