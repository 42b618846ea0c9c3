"""The weights of all tasks as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from smtl.plotting._names import names_of_features, shorten_all
from smtl.plotting._parts import SMALL, axes_points, canvas, fitted_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["WeightsDisplay"]


class WeightsDisplay:
    """Heat map of the weights: features down, tasks across.

    The features with the largest 2-norm over the tasks are shown, the strongest at the top. Those that are zero for all
    tasks are left out.

    Parameters
    ----------
    coef : array-like of shape (n_tasks, n_features)
        Weights.
    feature_names : sequence of shape (n_features,), default=None
        Names of the features; None for x0, x1, ...
    task_names : sequence of shape (n_tasks,), default=None
        Names of the tasks; None for 0, 1, ...

    Attributes
    ----------
    order_ : ndarray of int
        The features shown, from the top.
    image_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar
        Its colour bar.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from smtl.plotting import WeightsDisplay
    >>> display = WeightsDisplay(coef=[[0.0, 2.0, -1.0], [0.5, -1.0, 1.0]]).plot(max_features=2)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['x1', 'x2']
    """

    def __init__(
        self,
        *,
        coef: npt.ArrayLike,
        feature_names: Sequence[Any] | None = None,
        task_names: Sequence[Any] | None = None,
    ) -> None:
        self.coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        m, d = self.coef.shape
        self.feature_names = [f"x{j}" for j in range(d)] if feature_names is None else list(feature_names)
        self.task_names = list(range(m)) if task_names is None else list(task_names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, feature_names: Sequence[Any] | None = None, ax: Axes | None = None, **options: Any
    ) -> WeightsDisplay:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        estimator : SMTLClassifier, or Pipeline that ends with one
            The fitted model; any linear model with ``coef_`` will do.
        feature_names : sequence of shape (n_features,), default=None
            Names to use instead of those the model was fitted with.
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        **options
            Of `plot`: max_features, cmap.

        Returns
        -------
        WeightsDisplay
            The display.
        """
        step = fitted_step(estimator, "coef_", remedy="Give a fitted linear model, such as SMTLClassifier.")
        coef = np.atleast_2d(step.coef_)
        tasks = getattr(step, "task_names_", None)
        display = cls(
            coef=coef,
            feature_names=names_of_features(estimator, coef.shape[1]) if feature_names is None else feature_names,
            task_names=None if tasks is None else list(tasks),
        )
        return display.plot(ax=ax, **options)

    def plot(self, ax: Axes | None = None, *, max_features: int = 30, cmap: str = "RdBu_r") -> WeightsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        max_features : int, default=30
            How many features to show.
        cmap : str, default="RdBu_r"
            A diverging colour map; its middle is zero.

        Returns
        -------
        WeightsDisplay
            The display itself.
        """
        d = self.coef.shape[1]
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1, got {max_features} instead.")
        norms = np.linalg.norm(self.coef, axis=0)
        n_zero = d - np.count_nonzero(norms)
        # Stable, so that equal features keep their order.
        self.order_ = np.argsort(-norms, kind="stable")[: min(max_features, d - n_zero or d)]
        shown = self.coef[:, self.order_].T
        features, tasks = shorten_all([self.feature_names[j] for j in self.order_]), shorten_all(self.task_names)
        self.ax_ = ax = canvas(ax, _size(features, tasks))
        self.figure_ = ax.figure
        largest = float(np.abs(shown).max(initial=0.0)) or 1.0
        self.image_ = ax.imshow(shown, cmap=cmap, vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest")
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=ax, label="weight")
        which = "all zero, " if n_zero == d else "not zero, " if len(shown) == d - n_zero else "strongest, "
        ax.set_ylabel("feature" if len(shown) == d and n_zero == 0 else f"feature ({which}{len(shown)} of {d})")
        # First all features, for their width; in the end as many as fit, when the tasks have taken their height.
        ax.set_yticks(range(len(features)), features, fontsize=SMALL)
        self._name_tasks(tasks)
        step = int(np.ceil(1.25 * SMALL * len(features) / axes_points(ax)[1]))
        ax.set_yticks(range(0, len(features), step), features[::step], fontsize=SMALL)
        return self

    def _name_tasks(self, names: list[str]) -> None:
        """Name the tasks below: level if that fits, else upright, and only every so many if they are too many."""
        m, (width, _) = len(names), axes_points(self.ax_)
        level = _length(names) + SMALL <= width / m
        step = 1 if level else int(np.ceil(1.25 * SMALL * m / width))
        self.ax_.set_xticks(range(0, m, step), names[::step], rotation=0 if level else 90, fontsize=SMALL)
        self.ax_.set_xlabel("task" if step == 1 else f"task ({m}, one in {step} named)")


def _length(names: list[str]) -> float:
    """Return about how long the longest name is, in points."""
    return 0.65 * SMALL * max(map(len, names))


def _size(features: list[str], tasks: list[str]) -> tuple[float, float]:
    """Return the size of a new figure, in inches, so that names and cells have room."""
    width = float(np.clip(0.22 * len(tasks), 1.8, 10.0))
    level = _length(tasks) + SMALL <= 72.0 * width / len(tasks)
    height = 0.19 * max(len(features), 13) + (0.2 if level else _length(tasks) / 72.0)
    return width + 1.7 + _length(features) / 72.0, height + 0.5
