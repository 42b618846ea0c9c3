"""What the learners of an ensemble are worth, as plain JSON."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["standing"]


def standing(ensemble: Any) -> dict[str, Any]:
    """Return what each learner and the correction add.

    Parameters
    ----------
    ensemble : SMTLEnsemble
        A fitted ensemble.

    Returns
    -------
    dict
        ``learners``, the best first: name, score by itself on held-out rows, weight (its share of the answer), seconds;
        ``score`` of the whole; ``correction``, with its gain in log loss and the standard error of that, or None;
        ``seconds`` of all learners.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl import SMTLEnsemble
    >>> X, Y = make_multilabel_classification(100, random_state=0)
    >>> found = standing(SMTLEnsemble(learners=["linear"], cv=2).fit(X, Y))
    >>> [(one["name"], one["weight"]) for one in found["learners"]]
    [('linear', 1.0)]
    """
    board = ensemble.leaderboard_
    correction = ensemble.correction_
    return {
        "scoring": str(ensemble.scoring),
        "score": _number(ensemble.score_),
        "learners": [
            {"name": str(name), "score": _number(score), "weight": float(weight), "seconds": float(seconds)}
            for name, score, weight, seconds in zip(
                *(board[key] for key in ("learner", "score", "weight", "seconds")), strict=True
            )
        ],
        "correction": None
        if correction is None
        else {
            "penalty": correction.penalty,
            "C": float(correction.C),
            "gain": float(correction.gain),
            "error": float(correction.standard_error),
            "gap": float(correction.certified_gap),
        },
        "seconds": float(sum(board["seconds"])),
    }


def _number(value: float) -> float | None:
    """Return a number that JSON knows."""
    return float(value) if math.isfinite(value) else None
