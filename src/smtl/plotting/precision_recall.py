"""Precision and recall of each task, with the point at which the model cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, precision_recall_curve

from smtl.plotting._names import shorten_all
from smtl.plotting._parts import COLOURS, GREY, SMALL, Float, canvas
from smtl.plotting._questions import questions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PrecisionRecallCutDisplay"]


class PrecisionRecallCutDisplay:
    """Precision-recall curve of each task, with a dot where the model cuts between yes and no.

    Lines of equal F1 are grey. Of many tasks, those with the lowest F1 at the cut are shown.

    Parameters
    ----------
    precision, recall : sequence of ndarray
        A curve for each task, as of `sklearn.metrics.precision_recall_curve`.
    average_precision : array-like of shape (n_tasks,)
        Their average precision.
    cuts : array-like of shape (n_tasks, 2)
        Recall and precision at the model's cut.
    names : sequence of shape (n_tasks,)
        Names of the tasks.

    Attributes
    ----------
    f1 : ndarray of shape (n_tasks,)
        F1 at the cut.
    shown_ : list of int
        The tasks shown.
    lines_, dots_, legend_ : list of matplotlib Line2D, Legend
        Their curves and cuts, and the legend.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from smtl.plotting import PrecisionRecallCutDisplay
    >>> display = PrecisionRecallCutDisplay(
    ...     precision=[[0.5, 1.0, 1.0]],
    ...     recall=[[1.0, 0.5, 0.0]],
    ...     average_precision=[0.75],
    ...     cuts=[[0.5, 1.0]],
    ...     names=["rain"],
    ... )
    >>> display.plot().legend_.get_texts()[0].get_text()
    'F1 0.67, AP 0.75: rain'
    """

    def __init__(
        self,
        *,
        precision: Sequence[npt.ArrayLike],
        recall: Sequence[npt.ArrayLike],
        average_precision: npt.ArrayLike,
        cuts: npt.ArrayLike,
        names: Sequence[Any],
    ) -> None:
        self.precision = [np.asarray(curve) for curve in precision]
        self.recall = [np.asarray(curve) for curve in recall]
        self.average_precision = np.asarray(average_precision)
        self.cuts = np.asarray(cuts, dtype=np.float64)
        self.names = [str(name) for name in names]
        total = self.cuts.sum(axis=1)
        self.f1: Float = 2.0 * self.cuts.prod(axis=1) / np.where(total > 0.0, total, 1.0)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, tasks: Any = None, *, ax: Axes | None = None, **options: Any
    ) -> PrecisionRecallCutDisplay:
        """Draw the curves of a fitted model on some data.

        Parameters
        ----------
        estimator : SMTLClassifier, or Pipeline that ends with one
            The fitted model; any classifier with ``decision_function`` will do.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_tasks)
            Labels in the form they had in ``fit``. NaN: not labelled. Tasks without labels of both classes have no
            curve and are left out.
        tasks : array-like of shape (n_samples,), default=None
            The task of each row, for a model fitted with ``tasks``.
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        **options
            Of `plot`: max_tasks, tasks_shown.

        Returns
        -------
        PrecisionRecallCutDisplay
            The display.

        Notes
        -----
        The cut is at score 0 of ``decision_function``. A model of several classes predicts the class of the highest
        score, whatever its sign; there the dot tells how each class would do as a yes/no question of its own.
        """
        curves = []
        for name, labels, scores in questions(estimator, X, y, tasks):
            yes, answer = labels > 0, scores > 0
            if yes.all() or not yes.any():
                continue
            hits = np.sum(yes & answer)
            # No yes at all is the curve's own end, (0, 1).
            cut = hits / yes.sum(), hits / answer.sum() if answer.any() else 1.0
            precision, recall, _ = precision_recall_curve(yes, scores)
            curves.append((precision, recall, average_precision_score(yes, scores), cut, name))
        if not curves:
            raise ValueError("y must have labels of both classes for at least one task, got none with both instead.")
        p, r, average, cuts, names = zip(*curves, strict=True)
        display = cls(precision=p, recall=r, average_precision=average, cuts=cuts, names=names)
        return display.plot(ax=ax, **options)

    def plot(
        self, ax: Axes | None = None, *, max_tasks: int = 8, tasks_shown: Sequence[Any] | None = None
    ) -> PrecisionRecallCutDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        max_tasks : int, default=8
            How many tasks to show: those with the lowest F1 at the cut.
        tasks_shown : sequence, default=None
            Names of the tasks to show instead.

        Returns
        -------
        PrecisionRecallCutDisplay
            The display itself.
        """
        self.shown_ = self._choose(max_tasks, tasks_shown)
        self.ax_ = ax = canvas(ax, (7.6, 4.8))
        self.figure_: Any = ax.figure
        for f1 in (0.2, 0.4, 0.6, 0.8):
            recall = np.linspace(f1 / (2.0 - f1), 1.0, 100)
            ax.plot(recall, f1 * recall / (2.0 * recall - f1), color="0.85", linewidth=0.8, zorder=1)
            end: dict[str, Any] = {"xy": (1.0, f1 / (2.0 - f1)), "xytext": (5.0, 0.0), "textcoords": "offset points"}
            ax.annotate(f"F1 {f1}", **end, color=GREY, fontsize=7.5, va="center", annotation_clip=False)
        self.lines_, self.dots_ = [], []
        names = shorten_all([self.names[i] for i in self.shown_])
        for k, i in enumerate(self.shown_):
            # A second round of the colours is dashed.
            look: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "zorder": 3}
            dash = ("-", "--", ":")[k // len(COLOURS) % 3]
            label = f"F1 {self.f1[i]:.2f}, AP {self.average_precision[i]:.2f}: {names[k]}"
            step: dict[str, Any] = {"drawstyle": "steps-post", "linestyle": dash, "linewidth": 1.5, "label": label}
            self.lines_ += ax.plot(self.recall[i], self.precision[i], **step, **look)
            dot: dict[str, Any] = {"marker": "o", "markersize": 7.0, "markeredgecolor": "white", "clip_on": False}
            self.dots_ += ax.plot(*self.cuts[i : i + 1].T, linestyle="none", **dot, **(look | {"zorder": 4}))
        ax.set(xlim=(-0.01, 1.01), ylim=(0.0, 1.03), xlabel="recall", ylabel="precision")
        self._add_legend(ax, worst=tasks_shown is None)
        return self

    def _add_legend(self, ax: Axes, worst: bool) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.transforms import offset_copy

        dot = Line2D([], [], color=GREY, marker="o", linestyle="none", label="cut of the model (score 0)")
        n, m = len(self.shown_), len(self.names)
        chosen = "" if n == m else f"{n} of {m} tasks{', lowest F1 first' * worst}"
        place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
        # Clear of the names of the grey lines, at any size of the axes.
        place["bbox_transform"] = offset_copy(ax.transAxes, self.figure_, x=40.0, units="points")
        look: dict[str, Any] = {"fontsize": SMALL, "frameon": False, "alignment": "left"}
        self.legend_ = ax.legend(handles=[*self.lines_, dot], title=chosen, **place, **look)

    def _choose(self, max_tasks: int, tasks_shown: Sequence[Any] | None) -> list[int]:
        if tasks_shown is None:
            if max_tasks < 1:
                raise ValueError(f"max_tasks must be at least 1, got {max_tasks} instead.")
            m = len(self.names)
            return list(range(m)) if m <= max_tasks else np.argsort(self.f1, kind="stable")[:max_tasks].tolist()
        unknown = [name for name in tasks_shown if str(name) not in self.names]
        if unknown:
            raise ValueError(
                f"tasks_shown must be names of tasks with labels of both classes, got {unknown[0]!r} instead; there "
                f"are {', '.join(self.names[:8])}{', ...' if len(self.names) > 8 else ''}."
            )
        return [self.names.index(str(name)) for name in tasks_shown]
