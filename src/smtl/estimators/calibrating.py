"""Probabilities for any scores: a curve, or steps, for each label, fitted where the labels are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.estimators.calibration import Curves, logistic_curves
from smtl.estimators.held_out import Fold, HeldOut
from smtl.estimators.isotonic import Steps, isotonic_steps
from smtl.estimators.targets import Kind, Targets, read_targets, task_numbers

__all__ = ["Calibrator", "calibrate", "calibration_of", "check_calibration"]

Float: TypeAlias = npt.NDArray[np.float64]

METHODS = ("logistic", "isotonic")


def check_calibration(method: Any) -> None:
    """Raise for what is no way to calibrate.

    Parameters
    ----------
    method : str or None
        What was given.

    Examples
    --------
    >>> check_calibration("sigmoid")
    Traceback (most recent call last):
    ValueError: calibration must be 'logistic', 'isotonic' or None, got 'sigmoid' instead.
    """
    if method is not None and not (isinstance(method, str) and method in METHODS):
        raise ValueError(f"calibration must be 'logistic', 'isotonic' or None, got {method!r} instead.")


def calibration_of(held: HeldOut, method: str, learnable: npt.NDArray[np.int64]) -> Curves | Steps:
    """Return what makes probabilities of scores, fitted to held-out ones.

    Parameters
    ----------
    held : HeldOut
        Held-out scores.
    method : {"logistic", "isotonic"}
        Curves or steps.
    learnable : ndarray of int64
        The tasks that have a model; the scores of the others are log odds as they are.

    Returns
    -------
    Curves or Steps
        With a method ``probability``.
    """
    found: Curves | Steps = logistic_curves(held) if method == "logistic" else isotonic_steps(held)
    curves = found if isinstance(found, Curves) else found.curves
    constant = np.setdiff1d(np.arange(held.n_tasks), learnable)
    curves.slope[constant], curves.intercept[constant] = 1.0, 0.0
    return found


@dataclass
class Calibrator:
    """What makes probabilities of scores.

    Attributes
    ----------
    curves : Curves or Steps
        The function of each label.
    kind : str
        What the labels were: "binary", "multiclass", "multilabel" or "tasks".
    names : ndarray of shape (n_tasks,)
        Names of the tasks.

    Examples
    --------
    >>> one = Calibrator(Curves(np.array([2.0]), np.array([0.0])), "binary", np.array([1]))
    >>> one(np.array([0.0, 10.0])).round(3)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """

    curves: Curves | Steps
    kind: Kind
    names: npt.NDArray[Any]

    def predict_proba(self, scores: Any, tasks: Any = None) -> Float:
        """Return probabilities.

        Parameters
        ----------
        scores : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Scores, in the form that they had when the calibrator was fitted.
        tasks : array-like of shape (n_samples,), optional
            The task of each row, where each task has its own rows.

        Returns
        -------
        ndarray
            Of several labels the probability of yes, of shape (n_samples, n_tasks). Of several classes those of each
            class, which add up to one. Otherwise those of no and yes, of shape (n_samples, 2).
        """
        values = np.asarray(scores, dtype=np.float64)
        if self.kind == "tasks":
            if tasks is None:
                raise ValueError("tasks must be given where each task has its own rows, got None instead.")
            values = values.reshape(-1)
            yes = self.curves.probability(values, task_numbers(tasks, self.kind, self.names, len(values)))
            return np.column_stack([1.0 - yes, yes])
        if self.kind == "binary":
            values = values.reshape(-1, 1)
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise ValueError(f"scores must have a column a task ({len(self.names)}), got shape {values.shape} instead.")
        yes = self.curves.probability(values)
        if self.kind == "multiclass":
            return np.asarray(yes / np.maximum(yes.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))
        return np.column_stack([1.0 - yes, yes]) if self.kind == "binary" else yes

    __call__ = predict_proba


def calibrate(scores: Any, y: Any, *, method: str = "logistic", tasks: Any = None) -> Calibrator:
    """Fit what makes probabilities of scores of any kind, for one label or for many.

    A label with few rows of a class is drawn to what all labels share: with ``"logistic"`` by the slope of its curve,
    with ``"isotonic"`` its steps by that curve.

    Parameters
    ----------
    scores : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Scores of rows that the model has not been trained on; on training rows a model is too sure of itself.
    y : array-like of shape (n_samples,) or (n_samples, n_tasks)
        Labels of these rows: classes, or a matrix of 0 and 1. NaN: not labelled.
    method : {"logistic", "isotonic"}, default="logistic"
        A logistic curve (Platt 1999), or rising steps, which take more rows and assume less.
    tasks : array-like of shape (n_samples,), optional
        The task of each row, where each task has its own rows.

    Returns
    -------
    Calibrator
        ``calibrator(scores)`` or ``calibrator.predict_proba(scores)`` are probabilities.

    Examples
    --------
    >>> from smtl import calibrate
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.random((400, 3)) < [0.5, 0.2, 0.05]
    >>> scores = 3.0 * Y + rng.standard_normal(Y.shape)
    >>> chances = calibrate(scores, Y)
    >>> chances(scores).mean(axis=0).round(2), Y.mean(axis=0).round(2)
    (array([0.47, 0.16, 0.05]), array([0.47, 0.16, 0.05]))
    """
    check_calibration(method)
    if method is None:
        raise ValueError("method must be 'logistic' or 'isotonic', got None instead.")
    values = np.asarray(scores, dtype=np.float64)
    targets = read_targets(values, y, tasks)
    shape = targets.Y.shape
    if values.size != targets.Y.size or not np.isfinite(values).all():
        raise ValueError(f"scores must be finite numbers of shape {shape}, as the labels, got {values.shape} instead.")
    held = _all_held_out(targets, values.reshape(shape))
    return Calibrator(calibration_of(held, method, np.arange(len(targets.names))), targets.kind, targets.names)


def _all_held_out(targets: Targets, scores: Float) -> HeldOut:
    """Return scores as those of one fold that tests all rows."""
    none, rows = np.zeros(0, dtype=np.int64), np.arange(len(targets.Y))
    return HeldOut(targets, [Fold(none, rows, none, None)], [scores])
