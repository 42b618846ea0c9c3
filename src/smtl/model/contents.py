"""What a model may hold, value by value: of each class, its fitted attributes, and what each of them must be.

A model that was built from a file goes through `check_contents` before anything is asked of it. Whoever adds a fitted
attribute adds a line here; a model with one that is not listed cannot be saved.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from smtl.estimators.rules import row_rule
from smtl.model.schema import Refused
from smtl.model.values import (
    Dims,
    Value,
    array,
    choice,
    columns,
    either,
    list_of,
    mapping_to,
    name,
    nothing,
    number,
    truth,
    whole,
)

__all__ = ["CONTENTS", "check_contents"]

_DEEPEST = 40

# A part of the model: what is in it is looked at by itself.
part = Value("a part of a model", lambda value, dims: not isinstance(value, str | int | float) and value is not None)
_positive = number(0.0)
_weights = array("f", "tasks", "features")
_of_tasks = array("f", "tasks")
_names = array("iufbUO", "tasks")
_classes = array("iufbUO", "classes")
_kind = choice("binary", "multiclass", "multilabel", "tasks")
_loss = number(infinite=True)
_row_rule = either(nothing, Value("a rule for rows", lambda value, dims: row_rule(value) is not None))

_LINEAR: dict[str, Value] = {
    "n_features_in_": whole(1, dim="features"),
    "feature_names_in_": array("O", "features"),
    "coef_": _weights,
    "intercept_": _of_tasks,
    "thresholds_": _of_tasks,
    "task_names_": _names,
    "classes_": _classes,
    "_kind": _kind,
    "_has_offset": truth,
    "_has_groups": truth,
    "null_tasks_": array("iufbUO", "*"),
    "C_": _positive,
    "objective_": _loss,
    "dual_bound_": _loss,
    "gap_": number(0.0, infinite=True),
    "history_": mapping_to(array("fi", "passes", holes=True)),
    "n_iter_": whole(),
    "_start": nothing,
    "calibration_": either(nothing, part),
    "row_rule_": _row_rule,
    "unpromised_tasks_": array("iufbUO", "*"),
}
_SEARCHED: dict[str, Value] = {
    "partial_": truth,
    "metric_": either(name, part),
    "penalty_": either(name, part),
    "ridge_": _positive,
    "Cs_": array("f", "Cs", low=0.0),
    "scores_": array("f", "folds", "Cs", holes=True),
    "smoothing_": either(nothing, number(0.0, infinite=True)),
    "threshold_rule_": either(nothing, name),
    "threshold_spread_": either(nothing, array("f", "tasks", low=0.0, holes=True)),
    "cv_results_": columns(),
    "refit_time_": _positive,
}
_LEARNER: dict[str, Value] = {
    "random_state": either(nothing, whole()),
    "n_jobs": either(nothing, whole(-(2**31))),
    "_features": either(nothing, part),
}
_WRAPPED: dict[str, Value] = _LEARNER | {
    "estimator": either(nothing, part),
    "_constants": _of_tasks,
    "_joint": truth,
    "_models": list_of(either(nothing, part)),
}
_FOREST: dict[str, Value] = _LEARNER | {"n_trees": whole(1), "_forest": part}
_PART: dict[str, Value] = {"name": name, "names": list_of(name)}
_TEXT: dict[str, Value] = _PART | {
    "words": list_of(name, "words"),
    "idf": array("f", "words", low=0.0),
    "frequent": part,
    "_fitted": part,
}

# Fitted attributes by class; parameters of the constructor may be any plain setting.
CONTENTS: dict[str, dict[str, Value]] = {
    "SMTLClassifier": _LINEAR,
    "SMTLClassifierCV": _LINEAR | _SEARCHED,
    "SMTLEnsemble": {
        "n_features_in_": whole(1, dim="features"),
        "feature_names_in_": array("O", "features"),
        "thresholds_": _of_tasks,
        "threshold_rule_": name,
        "threshold_spread_": array("f", "tasks", low=0.0),
        "task_names_": _names,
        "classes_": _classes,
        "_kind": _kind,
        "_constants": _of_tasks,
        "_learnable": array("i", "*", low=0.0),
        "partial_": truth,
        "learners_": mapping_to(part),
        "combination_": either(nothing, part),
        "correction_": either(nothing, part),
        "score_": number(infinite=True),
        "weights_": mapping_to(_positive),
        "leaderboard_": columns(
            learner=array("U", "board"),
            score=array("f", "board", holes=True),
            weight=array("f", "board", low=0.0),
            seconds=array("f", "board", low=0.0),
        ),
        "held_out_scores_": either(array("f", "*", holes=True), array("f", "*", "tasks", holes=True)),
        "row_rule_": _row_rule,
        "unpromised_tasks_": array("iufbUO", "*"),
    },
    "SMTLRanker": {
        "n_features_in_": whole(1, dim="features"),
        "feature_names_in_": array("O", "features"),
        "coef_": array("f", "features"),
        "C_": either(_positive, Value("NaN", lambda value, dims: isinstance(value, float) and math.isnan(value))),
        "n_groups_": whole(),
        "n_groups_left_out_": whole(),
        "objective_": _loss,
        "dual_bound_": _loss,
        "gap_": number(0.0, infinite=True),
        "n_iter_": whole(),
    },
    "Combination": {"standard": part, "weights": array("f", "*", low=0.0), "curves": part},
    "Standard": {
        "location": array("f", "learners", "tasks"),
        "scale": array("f", "learners", "tasks", low=0.0, holes=True),  # infinite where a learner is left out
    },
    "Curves": {"slope": _of_tasks, "intercept": _of_tasks},
    "Steps": {
        "curves": part,
        "trust": array("f", "tasks", low=0.0, high=1.0),
        "scores": array("f", "knots"),
        "shares": array("f", "knots", low=0.0, high=1.0),
        "ptr": array("i", "*", low=0),
    },
    "Correction": {
        "coef": array("f", "tasks", "scores"),
        "intercept": _of_tasks,
        "penalty": name,
        "C": _positive,
        "gain": number(),
        "standard_error": _positive,
        "certified_gap": number(0.0, infinite=True),
    },
    "KernelLearner": _LEARNER
    | {
        "scaled": truth,
        "gamma": _positive,
        "penalty": _positive,
        "landmarks": array("f", "landmarks", "*"),
        "coef": array("f", "landmarks", "outputs"),
        "intercept": array("f", "outputs"),
    },
    "LinearLearner": _LEARNER
    | {
        "penalties": list_of(name),
        "penalty": name,
        "C": _positive,
        "coef": array("f", "tasks", "*"),
        "intercept": _of_tasks,
    },
    "ForestLearner": _FOREST,
    "CoarseForestLearner": _FOREST,
    "WrappedLearner": _WRAPPED,
    "BoostingLearner": _WRAPPED,
    "PerTask": _LEARNER | {"kind": nothing, "options": nothing, "learners": list_of(either(nothing, part))},
    "Pooled": _LEARNER | {"learner": part, "n_tasks": whole(1)},
    "Features": {"scale": truth, "dense": truth, "random_state": whole(), "_steps": list_of(part)},
    "SparseScaler": {"scale": array("f", "*")},
    "SparseToDense": {
        "random_state": whole(),
        "full": array("i", "full", low=0),
        "rest": array("i", "rest", low=0),
        "center": array("f", "full"),
        "components": array("f", "rest", "*"),
    },
    "TableEncoder": {
        "parts_": list_of(part),
        "columns_": list_of(mapping_to(either(name, whole()))),
        "feature_names_in_": array("O", "columns"),
        "n_features_in_": whole(1, dim="columns"),
    },
    "NumberPart": _PART
    | {"style": either(nothing, list_of(name)), "words": list_of(name)}
    | {"from_text": truth, "mean": number(), "spread": number(math.ulp(0.0)), "tells_missing": truth},
    "CategoryPart": _PART
    | {
        "least": whole(),
        "any_case": truth,
        "of_numbers": truth,
        "levels": list_of(name),
        "tells_missing": truth,
        "known": list_of(name),
    },
    "DatePart": _PART
    | {
        "form": name,
        "words": list_of(name),
        "tells_missing": truth,
        "kept": list_of(name, "kept"),
        "mean": array("f", "kept"),
        "spread": array("f", "kept"),
    },
    "TextPart": _TEXT,
    "StringsPart": _TEXT,
    "StandardScaler": {
        "n_features_in_": whole(1, dim="features"),
        "feature_names_in_": array("O", "features"),
        "n_samples_seen_": either(_positive, array("fi", "features", low=0)),
        "mean_": either(nothing, array("f", "features")),
        "var_": either(nothing, array("f", "features", low=0.0)),
        "scale_": either(nothing, array("f", "features")),
    },
    "MaxAbsScaler": {
        "n_features_in_": whole(1, dim="features"),
        "feature_names_in_": array("O", "features"),
        "n_samples_seen_": whole(),
        "max_abs_": array("f", "features", low=0.0),
        "scale_": array("f", "features"),
    },
}
_OF_ALL = ("n_features_in_", "thresholds_", "task_names_", "classes_", "_kind")
_OF_LINEAR = (*_OF_ALL, "coef_", "intercept_", "C_")
_OF_CUTS = ("threshold_rule_", "threshold_spread_")
_OF_ENSEMBLE = ("learners_", "combination_", "correction_", "score_", "weights_", "leaderboard_", "_learnable")
# What a model cannot be used without.
_NEEDED: dict[str, tuple[str, ...]] = {
    "SMTLClassifier": _OF_LINEAR,
    "SMTLClassifierCV": _OF_LINEAR,
    "SMTLRanker": ("n_features_in_", "coef_"),
    "SMTLEnsemble": (*_OF_ALL, *_OF_CUTS, *_OF_ENSEMBLE),
}
# Checked where they are built of arrays, see `smtl.ensemble.forest_arrays` and `smtl.ensemble.boosted_trees`.
_BUILT = ("ExtraTreesRegressor", "BoostedTrees")


def check_contents(model: Any) -> None:
    """Raise `Refused` unless all that a model holds is what a model of its kind holds.

    Parameters
    ----------
    model : object
        What was built from a file, or is to be saved.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> check_contents(model)
    >>> model.thresholds_ = np.array([np.nan])
    >>> check_contents(model)
    Traceback (most recent call last):
        ...
    smtl.model.schema.Refused: thresholds_ of its SMTLClassifier must be an array of finite numbers of shape (tasks)
    """
    _check(model, set(), 0)


def _check(value: Any, seen: set[int], depth: int) -> None:
    """Check a value, and all values within."""
    if depth > _DEEPEST:
        raise Refused("its parts are nested too deeply")
    if isinstance(value, dict):
        for one in value.values():
            _check(one, seen, depth + 1)
        return
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        _check_named(value)
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype.kind == "O"):
        for one in value.ravel() if isinstance(value, np.ndarray) else value:
            _check(one, seen, depth + 1)
        return
    if not hasattr(value, "__dict__") or isinstance(value, type | np.ndarray) or id(value) in seen:
        return
    seen.add(id(value))
    kind, module = type(value).__name__, type(value).__module__
    if kind in _BUILT or callable(value):
        return
    if kind in CONTENTS:
        parameters = _parameters(value) if isinstance(value, BaseEstimator) else frozenset()
        _check_attributes(kind, vars(value), CONTENTS[kind], parameters)
    elif isinstance(value, Pipeline):
        _check_pipeline(value)
    elif module.startswith("sklearn.") or not module.startswith("smtl."):
        _check_foreign(value)
    else:
        _check_attributes(kind, vars(value), {}, frozenset(vars(value)))  # a metric, a penalty
    for one in list(vars(value).values()):
        _check(one, seen, depth + 1)


def _check_named(value: Any) -> None:
    """Check a tuple whose values have names."""
    kind = type(value).__name__
    _check_attributes(kind, value._asdict(), CONTENTS.get(kind, {}), frozenset())


def _check_attributes(kind: str, found: dict[str, Any], known: dict[str, Value], parameters: frozenset[str]) -> None:
    missing = [key for key in _NEEDED.get(kind, ()) if key not in found] + sorted(parameters - set(found))
    if missing:
        raise Refused(f"its {kind} has no {missing[0]}")
    dims: Dims = {}
    # In the order of the list, so that what settles a length comes first.
    for key in [*(key for key in known if key in found), *(key for key in found if key not in known)]:
        value = found[key]
        if key in known and not (key in parameters and _is_setting(value)):
            if not known[key].fits(value, dims):
                raise Refused(f"{key} of its {kind} must be {known[key].what}")
        elif key not in known and not (key in parameters and _is_setting(value)):
            raise Refused(f"its {kind} has {key[:80]!r}, which is not among the attributes of a model")


def _parameters(value: Any) -> frozenset[str]:
    """Return what the constructor takes."""
    return frozenset(inspect.signature(type(value).__init__).parameters) - {"self"}


def _is_setting(value: Any, depth: int = 0) -> bool:
    """Return whether a value is a plain one, a part with a class of its own, or a collection of these."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, float | np.floating):
        return True  # a setting may be infinite; a missing value is NaN to an imputer
    if value is None or isinstance(value, str | bool | int | np.generic | type | slice | np.dtype):
        return True
    if isinstance(value, list | tuple | set | frozenset):
        return all(_is_setting(one, depth + 1) for one in value)
    if isinstance(value, dict):
        keys = str | int | float | np.integer | np.floating  # names, or classes
        return all(isinstance(key, keys) and _is_setting(one, depth + 1) for key, one in value.items())
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufUO"
    return hasattr(value, "__dict__") or callable(value)


def _check_pipeline(pipeline: Pipeline) -> None:
    steps = vars(pipeline).get("steps")
    if not isinstance(steps, list) or not steps:
        raise Refused("steps of its Pipeline must be a list with a step")
    if not all(isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str) for step in steps):
        raise Refused("steps of its Pipeline must be pairs of a name and a step")
    if vars(pipeline).get("memory") is not None:
        raise Refused("its Pipeline must have no cache of its own")


def _check_foreign(value: Any) -> None:
    """Check a part of scikit-learn's or skrub's: its parameters by its own rules, and arrays for holes.

    Statistics of an imputer are NaN where a column was empty, and categories hold whatever the data did.
    """
    kind = type(value).__name__
    if isinstance(value, BaseEstimator) and hasattr(value, "_parameter_constraints"):
        try:
            value._validate_params()
        except Exception as error:
            raise Refused(f"a parameter of its {kind} is wrong: {' '.join(str(error).split())[:200]}") from None
    for key, found in vars(value).items():
        numbers = found.data if sp.issparse(found) else found
        if (
            isinstance(numbers, np.ndarray)
            and numbers.dtype.kind == "f"
            and key not in ("statistics_", "missing_values")
        ):
            if not np.isfinite(numbers).all():
                raise Refused(f"{key} of its {kind} must be finite")
        elif isinstance(found, dict) and not all(isinstance(one, str | int | float) for one in found):
            raise Refused(f"{key} of its {kind} has keys that are no names")
    d = vars(value).get("n_features_in_")
    if d is not None and (isinstance(d, bool) or not isinstance(d, int | np.integer) or not 1 <= d <= 2**31):
        raise Refused(f"n_features_in_ of its {kind} must be a whole number from 1 on")
    for key in ("statistics_", "data_min_", "data_max_", "center_", "mean_"):
        found = vars(value).get(key)
        if isinstance(found, np.ndarray) and d is not None and found.shape != (d,):
            raise Refused(f"{key} of its {kind} must have an entry for each of its {d} features")
