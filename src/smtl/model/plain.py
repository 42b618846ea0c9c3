"""A whole pipeline as plain figures, for programs that have neither smtl nor scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from smtl.model.described import Described, described
from smtl.model.scores import classifier_of, takes_frames
from smtl.tables.encoder import TableEncoder

__all__ = ["PlainModel", "check_step", "plain_model"]

Float: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlainModel(Described):
    r"""A model as figures: :math:`s_t = b_t + \sum_j w_{tj} (x_j - c_j)`, for features as they come.

    The centres stay apart from the intercepts: where a feature's mean is many times its spread, :math:`w_j c_j` is a
    large number of which the sum would keep only the first digits.

    Attributes
    ----------
    fill : ndarray of shape (n_features,) or None
        What a missing feature counts as; None if the model takes none.
    center : ndarray of shape (n_features,)
        What is taken off each feature.
    weights : ndarray of shape (n_tasks, n_features)
        Weights.
    intercepts : ndarray of shape (n_tasks,)
        Intercepts, from which the thresholds are already taken off.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> plain = plain_model(model, feature_names=["beat"])
    >>> plain.features, plain.kind, bool(plain.weights[0, 0] == model.coef_[0, 0])
    (['beat'], 'binary', True)
    """

    fill: Float | None
    center: Float
    weights: Float
    intercepts: Float

    @property
    def takes_missing(self) -> bool:
        """Whether a feature may be missing."""
        return self.fill is not None

    @property
    def outputs(self) -> tuple[str, ...]:
        """What its ONNX graph returns."""
        return "scores", "labels"

    def about(self) -> dict[str, Any]:
        """Return what is to be known about the figures, plain JSON: the same in every format."""
        return {**super().about(), "thresholds_in_intercepts": True}


def plain_model(
    model: Any, *, feature_names: Sequence[str] | None = None, task_names: Sequence[str] | None = None
) -> PlainModel:
    """Return a model as plain figures.

    Parameters
    ----------
    model : SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model; a pipeline of filling, scaling and the classifier. Of a model of tables, the features are what
        its columns become, before they are filled and scaled.
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
            f"{_cannot(final)}; export it with --to onnx (in Python, smtl.model.onnx_ensemble), or train with --model "
            "linear (in Python, SMTLClassifierCV)."
        )
    d = final.coef_.shape[1]
    center, scale, fill = np.zeros(d), np.ones(d), None
    # From the beginning to the end: what reaches a step is (x - center) / scale, with holes until something fills them.
    for _, step in model.steps[:-1] if isinstance(model, Pipeline) else []:
        if isinstance(step, TableEncoder):
            center, scale = step.affine()
            fill = center
            continue
        if takes_frames(model) and step is model.steps[0][1]:
            continue
        check_step(step, d)
        if isinstance(step, SimpleImputer):
            fill = center + scale * np.asarray(step.statistics_, dtype=np.float64) if fill is None else fill
        else:
            if isinstance(step, StandardScaler) and step.with_mean:
                center = center + scale * step.mean_
            scale = scale if step.scale_ is None else scale * step.scale_
    settings = {
        "metric": str(getattr(final, "metric_", final.metric)),
        "penalty": str(getattr(final, "penalty_", final.penalty)),
        "C": float(final.C_),
    }
    names = described(model, feature_names=feature_names, task_names=task_names, settings=settings)
    return PlainModel(
        **vars(names),
        fill=fill,
        center=center,
        weights=final.coef_.astype(np.float64) / scale,
        intercepts=final.intercept_.astype(np.float64),
    )


def _cannot(final: Any) -> str:
    """Return why a model is no list of weights."""
    learners = ", ".join(getattr(final, "learners_", {}))
    return f"an ensemble cannot be exported as weights, because its learners ({learners}) are no linear function"


def check_step(step: Any, d: int) -> None:
    """Raise unless a step before the classifier fills holes or scales, and keeps the features as they are.

    Parameters
    ----------
    step : object
        A fitted transformer.
    d : int
        How many features there are.

    Raises
    ------
    ValueError
        If it does more than that.
    TypeError
        If it is another transformer.

    Examples
    --------
    >>> check_step(StandardScaler(), 3)
    """
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
