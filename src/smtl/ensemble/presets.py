"""Which learners an ensemble is made of: by preset, by name, or the user's own classifiers."""

from __future__ import annotations

from typing import Any, TypeAlias

from smtl.ensemble.learners import Learner
from smtl.ensemble.learners.own_rows import PerTask, Pooled
from smtl.ensemble.learners.wrapped import WrappedLearner
from smtl.registry import unknown_name

__all__ = ["ON_TRIAL", "PRESETS", "make_learners"]

# A learner's class, and what it is made with.
Recipe: TypeAlias = tuple[type[Learner], dict[str, Any]]

# The learners of each preset, cheapest first.
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "fast": {"kernel": {}, "linear": {"penalties": ("ridge",)}, "forest": {"n_trees": 50}},
    "balanced": {"kernel": {}, "linear": {}, "forest": {}, "coarse-forest": {"n_trees": 100}, "boosting": {}},
    "best": {"kernel": {}, "linear": {}, "forest": {}, "coarse-forest": {}, "boosting": {}},
}
# Of these, which are taken in only where a trial shows that they add to the others; on rows that tasks share.
ON_TRIAL: dict[str, tuple[str, ...]] = {"balanced": ("boosting",)}


def make_learners(learners: Any, preset: str, seed: int, n_jobs: int | None, *, own_rows: bool) -> dict[str, Learner]:
    """Return unfitted learners by name.

    Parameters
    ----------
    learners : "auto" or list
        ``"auto"`` for those of the preset; or a list of names, classifiers, and pairs of a name and a classifier.
    preset : {"fast", "balanced", "best"}
        The preset.
    seed : int
        The seed of them all.
    n_jobs : int or None
        Threads.
    own_rows : bool
        Whether each task has its own rows. A learner of shared rows is then there twice: on all rows together, with
        the task as a feature, and for each task by itself.

    Returns
    -------
    dict
        Learners.

    Examples
    --------
    >>> list(make_learners("auto", "fast", 0, None, own_rows=False))
    ['kernel', 'linear', 'forest']
    >>> list(make_learners(["forest"], "fast", 0, None, own_rows=True))
    ['forest', 'forest-per-task']
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(map(repr, PRESETS))}, got {preset!r} instead.")
    given = learners
    if isinstance(learners, str) and learners == "auto":
        given = [name for name in PRESETS[preset] if not (own_rows and name in ON_TRIAL.get(preset, ()))]
    if not isinstance(given, list | tuple) or not given:
        raise ValueError(
            "learners must be 'auto' or a list of names, classifiers, and pairs of a name and a classifier, got "
            f"{learners!r} instead."
        )
    out: dict[str, Learner] = {}
    for entry in given:
        name, (kind, options) = _entry(entry, preset)
        if name in out:
            raise ValueError(f"learners must have different names, got {name!r} twice; give pairs (name, classifier).")
        options = {**options, "random_state": seed, "n_jobs": n_jobs}
        if not own_rows or kind.takes_own_rows:
            out[name] = kind(**options)
            continue
        out[name] = Pooled(kind(**{**options, **kind.pooled}), scale=bool(kind.pooled))
        if kind.one_task is not None:
            out[f"{name}-per-task"] = PerTask(kind, {**options, **kind.one_task})
    return out


def _entry(entry: Any, preset: str) -> tuple[str, Recipe]:
    """Return the name of a learner, and how to make it."""
    if isinstance(entry, str):
        if entry not in Learner.known:
            raise unknown_name("a learner", entry, Learner.known)
        return entry, (Learner.known[entry], PRESETS[preset].get(entry, {}))
    name, estimator = entry if isinstance(entry, tuple) and len(entry) == 2 else (None, entry)
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(f"learners must hold names, or classifiers of scikit-learn's manner, got {entry!r} instead.")
    return str(name or type(estimator).__name__.lower()), (WrappedLearner, {"estimator": estimator})
