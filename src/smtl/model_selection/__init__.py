"""Splits of rows that spread every label evenly, in the manner of scikit-learn's."""

from __future__ import annotations

from smtl.model_selection.k_fold import MultilabelStratifiedGroupKFold, MultilabelStratifiedKFold
from smtl.model_selection.shuffle_split import MultilabelStratifiedGroupShuffleSplit, MultilabelStratifiedShuffleSplit

__all__ = [
    "MultilabelStratifiedGroupKFold",
    "MultilabelStratifiedGroupShuffleSplit",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
]
