"""The pictures as plain functions, which return the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtl.plotting.convergence import ConvergenceDisplay
from smtl.plotting.cv_scores import CVScoreDisplay
from smtl.plotting.path import PathDisplay
from smtl.plotting.precision_recall import PrecisionRecallCutDisplay
from smtl.plotting.weights import WeightsDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_convergence", "plot_cv_scores", "plot_path", "plot_precision_recall", "plot_weights"]


def plot_convergence(estimator: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw how a fit converged: best objective so far, and the bound below it.

    Parameters
    ----------
    estimator : SMTLClassifier, or Pipeline that ends with one
        The fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; None for a new figure.
    **options
        Of `ConvergenceDisplay.from_estimator`.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import SMTLClassifier
    >>> from smtl.plotting import plot_convergence
    >>> model = SMTLClassifier().fit(*load_iris(return_X_y=True))
    >>> plot_convergence(model, x="passes").get_xlabel()
    'passes over the data'
    """
    return ConvergenceDisplay.from_estimator(estimator, ax=ax, **options).ax_


def plot_cv_scores(estimator: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the held-out score against C, with the C that was chosen.

    Parameters
    ----------
    estimator : SMTLClassifierCV, or Pipeline that ends with one
        The fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; None for a new figure.
    **options
        Of `CVScoreDisplay.from_estimator`.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import SMTLClassifierCV
    >>> from smtl.plotting import plot_cv_scores
    >>> model = SMTLClassifierCV(Cs=5, cv=3).fit(*load_iris(return_X_y=True))
    >>> print(plot_cv_scores(model).get_ylabel())
    held-out f1
    mean of 3 folds ± standard error
    """
    return CVScoreDisplay.from_estimator(estimator, ax=ax, **options).ax_


def plot_path(path: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the regularisation path: the norm of each feature's weights against C.

    Parameters
    ----------
    path : SMTLPath, fitted SMTLClassifier, or Pipeline that ends with one
        What `smtl.smtl_path` returned, or a model whose path is to be computed.
    X, y : array-like, default=None
        Data, for a model.
    ax : matplotlib Axes, default=None
        Where to draw; None for a new figure.
    **options
        Of `PathDisplay.from_path` or `PathDisplay.from_estimator`.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import smtl_path
    >>> from smtl.plotting import plot_path
    >>> iris = load_iris()
    >>> ax = plot_path(smtl_path(iris.data, iris.target, Cs=5), feature_names=iris.feature_names)
    >>> ax.get_ylabel()
    '2-norm of weights over 3 tasks'
    """
    if hasattr(path, "coefs"):
        return PathDisplay.from_path(path, ax=ax, **options).ax_
    return PathDisplay.from_estimator(path, X, y, ax=ax, **options).ax_


def plot_precision_recall(
    estimator: Any, X: Any, y: Any, tasks: Any = None, *, ax: Axes | None = None, **options: Any
) -> Axes:
    """Draw the precision-recall curve of each task, with a dot where the model cuts.

    Parameters
    ----------
    estimator : SMTLClassifier, or Pipeline that ends with one
        The fitted model.
    X, y, tasks : array-like
        Data to draw the curves for, in the form of ``fit``.
    ax : matplotlib Axes, default=None
        Where to draw; None for a new figure.
    **options
        Of `PrecisionRecallCutDisplay.plot`: max_tasks, tasks_shown.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import SMTLClassifier
    >>> from smtl.plotting import plot_precision_recall
    >>> X, y = load_iris(return_X_y=True)
    >>> ax = plot_precision_recall(SMTLClassifier().fit(X, y), X, y)
    >>> ax.get_legend().get_texts()[0].get_text()
    'F1 1.00, AP 1.00: 0'
    """
    return PrecisionRecallCutDisplay.from_estimator(estimator, X, y, tasks, ax=ax, **options).ax_


def plot_weights(estimator: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the weights of all tasks as a heat map.

    Parameters
    ----------
    estimator : SMTLClassifier, or Pipeline that ends with one
        The fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; None for a new figure.
    **options
        Of `WeightsDisplay.from_estimator`.

    Returns
    -------
    matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from smtl import SMTLClassifier
    >>> from smtl.plotting import plot_weights
    >>> model = SMTLClassifier().fit(*load_iris(return_X_y=True, as_frame=True))
    >>> plot_weights(model).get_xlabel()
    'task'
    """
    return WeightsDisplay.from_estimator(estimator, ax=ax, **options).ax_
