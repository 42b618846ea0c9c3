"""Words that stand for a missing value."""

from __future__ import annotations

__all__ = ["EMPTY", "MISSING"]

# Cells without a value. Classes and tasks go by names of the user's choice, and only the first of these are none there.
EMPTY = frozenset({"", "?", "NA"})
MISSING = EMPTY | {"NULL", "null", "None", "N/A", "n/a", "na", "nan", "NaN", "#N/A", "<NA>", "-"}
