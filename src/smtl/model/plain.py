"""A whole pipeline as plain figures, for programs that have neither smtl nor scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl.model.scores import classifier_of

__all__ = ["PlainModel", "plain_model"]

Float: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlainModel:
    r"""A model as figures: :math:`s_t = b_t + \sum_j w_{tj} (x_j - c_j)`, for features as they come.

    The centres stay apart from the intercepts: where a feature's mean is many times its spread, :math:`w_j c_j` is a
    large number of which the sum would keep only the first digits.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel", "tasks"}
        What the model was asked.
    features, tasks : list of str
        Names.
    named : bool
        Whether the features had names in the training data.
    classes : ndarray of numbers or text
        What the model answers: one of these for ``multiclass``, otherwise the first for no and the last for yes.
    fill : ndarray of shape (n_features,) or None
        What a missing feature counts as; None if the model takes none.
    center : ndarray of shape (n_features,)
        What is taken off each feature.
    weights : ndarray of shape (n_tasks, n_features)
        Weights.
    intercepts, thresholds : ndarray of shape (n_tasks,)
        Intercepts, from which the thresholds are already taken off; and these.
    settings : dict
        Metric, penalty and C.
    """

    kind: str
    features: list[str]
    tasks: list[str]
    named: bool
    classes: npt.NDArray[Any]
    fill: Float | None
    center: Float
    weights: Float
    intercepts: Float
    thresholds: Float
    settings: dict[str, Any]

    def one_hot(self) -> dict[str, dict[str, str]]:
        """Return, for each nominal column of the training data, the feature that stands for each value.

        They are known by their names, ``column=value``.
        """
        columns: dict[str, dict[str, str]] = {}
        for feature in self.features if self.named else ():
            column, sign, value = feature.partition("=")
            if sign:
                columns.setdefault(column, {})[value] = feature
        return columns

    def about(self) -> dict[str, Any]:
        """Return what is to be known about the figures, plain JSON: the same in every format."""
        return {
            "smtl": version("smtl"),
            "kind": self.kind,
            **self.settings,
            "features": self.features,
            "one_hot": self.one_hot(),
            "tasks": self.tasks,
            "classes": self.classes.tolist(),
            "thresholds": self.thresholds.tolist(),
            "thresholds_in_intercepts": True,
        }


def plain_model(
    model: Any, *, feature_names: Sequence[str] | None = None, task_names: Sequence[str] | None = None
) -> PlainModel:
    """Return a model as plain figures.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model; a pipeline of filling, scaling and the classifier.
    feature_names, task_names : sequence of str, optional
        Names; by default as in `save_model`.

    Returns
    -------
    PlainModel
        The same scores, up to rounding.

    Raises
    ------
    ValueError
        If a step does what figures alone cannot say: clips, drops features, or takes a number for a missing one; or if
        classes are neither numbers nor text.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from smtl import SMTLClassifier
    >>> X, y = np.random.default_rng(0).normal(2.0, 3.0, size=(50, 2)), np.array([0, 1] * 25)
    >>> model = make_pipeline(StandardScaler(), SMTLClassifier()).fit(X, y)
    >>> plain = plain_model(model, feature_names=["beat", "year"])
    >>> scores = (X - plain.center) @ plain.weights[0] + plain.intercepts[0]
    >>> np.allclose(scores, model.decision_function(X))
    True
    """
    final = classifier_of(model)
    if not hasattr(final, "coef_"):
        raise ValueError(
            f"{_cannot(final)}; train with --model linear (in Python, SMTLClassifierCV), or load the model in Python "
            "with smtl.model.load_model."
        )
    d = final.coef_.shape[1]
    center, scale, fill = np.zeros(d), np.ones(d), None
    # From the beginning to the end: what reaches a step is (x - center) / scale, with holes until something fills them.
    for _, step in model.steps[:-1] if isinstance(model, Pipeline) else []:
        _check_step(step, d)
        if isinstance(step, SimpleImputer):
            fill = center + scale * np.asarray(step.statistics_, dtype=np.float64) if fill is None else fill
        else:
            if isinstance(step, StandardScaler) and step.with_mean:
                center = center + scale * step.mean_
            scale = scale if step.scale_ is None else scale * step.scale_
    named = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    features = [f"x{j}" for j in range(d)] if named is None else [str(name) for name in named]
    if len(features) != d:
        raise ValueError(f"feature_names must have {d} names, got {len(features)} instead.")
    return PlainModel(
        kind=final._kind,
        features=features,
        tasks=[str(name) for name in (final.task_names_ if task_names is None else task_names)],
        named=named is not None,
        classes=np.array([0, 1]) if final._kind == "multilabel" else _plain_classes(final.classes_),
        fill=fill,
        center=center,
        weights=final.coef_.astype(np.float64) / scale,
        intercepts=final.intercept_.astype(np.float64),
        thresholds=np.asarray(final.thresholds_, dtype=np.float64),
        settings={
            "metric": str(getattr(final, "metric_", final.metric)),
            "penalty": str(getattr(final, "penalty_", final.penalty)),
            "C": float(final.C_),
        },
    )


def _cannot(final: Any) -> str:
    """Return why a model is no list of weights."""
    learners = ", ".join(getattr(final, "learners_", {}))
    return f"an ensemble cannot be exported, because its learners ({learners}) are no weights of a linear function"


def _plain_classes(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if all(isinstance(name, str) for name in classes.tolist()):
        return classes.astype(str)
    if classes.dtype.kind not in "biuf":
        raise ValueError(f"classes must be numbers or text, got {classes.tolist()!r} instead.")
    return classes


def _check_step(step: Any, d: int) -> None:
    if isinstance(step, SimpleImputer):
        missing = step.missing_values
        if not (isinstance(missing, float) and math.isnan(missing)):
            raise ValueError(f"missing features must be NaN, got an imputer of {missing!r} instead.")
        if step.add_indicator or len(step.statistics_) != d:
            raise ValueError(
                "the imputer must leave the features as many as they are; fit the model with "
                "keep_empty_features=True and without add_indicator."
            )
    elif isinstance(step, MaxAbsScaler):
        if getattr(step, "clip", False):
            raise ValueError("MaxAbsScaler must be without clip, got clip=True instead.")
    elif not isinstance(step, StandardScaler):
        raise TypeError(f"a step must be SimpleImputer, StandardScaler or MaxAbsScaler, got {step!r} instead.")
