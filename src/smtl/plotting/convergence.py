"""How a fit converged: the objective and the bound that certifies it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from smtl.plotting._parts import COLOURS, GREY, End, canvas, fitted_step, label_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ConvergenceDisplay"]

# Steps: between two iterations nothing better is known.
_LOOK: dict[str, Any] = {"drawstyle": "steps-post", "linewidth": 1.8, "marker": "o", "markersize": 2.5}


class ConvergenceDisplay:
    """Best objective so far and the bound below it, or the gap between them, as the fit went on.

    The optimum lies between the two, in the shaded area. Of an objective that starts high, only the part up to 2.5
    times the last value is in the picture.

    Parameters
    ----------
    objective : array-like of shape (n_iter,)
        The objective at each iteration, or the best so far.
    bound : array-like of shape (n_iter,)
        The bound from below after each iteration.
    seconds, passes : array-like of shape (n_iter,)
        Seconds, and passes over the data, until then.
    tol : float, default=None
        The relative gap that was asked for.

    Attributes
    ----------
    objective_line_, bound_line_ : matplotlib Line2D
        The two lines, of ``kind="objective"``.
    area_ : matplotlib artist
        What is shaded between them.
    gap_line_ : matplotlib Line2D
        The line of ``kind="gap"``.
    tol_line_ : matplotlib Line2D or None
        Where the gap should get, of ``kind="gap"``.
    labels_ : list of matplotlib Annotation
        Last values, at the right.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from smtl.plotting import ConvergenceDisplay
    >>> display = ConvergenceDisplay(objective=[4.0, 5.0, 2.0], bound=[0, 1, 1.5], seconds=[1, 2, 3], passes=[1, 2, 3])
    >>> display.plot().objective_line_.get_ydata()
    array([4., 4., 2.])
    """

    def __init__(
        self,
        *,
        objective: npt.ArrayLike,
        bound: npt.ArrayLike,
        seconds: npt.ArrayLike,
        passes: npt.ArrayLike,
        tol: float | None = None,
    ) -> None:
        self.objective = np.minimum.accumulate(np.asarray(objective, dtype=np.float64))
        self.bound = np.maximum.accumulate(np.asarray(bound, dtype=np.float64))
        self.seconds = np.asarray(seconds, dtype=np.float64)
        self.passes = np.asarray(passes, dtype=np.float64)
        self.tol = tol

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **options: Any) -> ConvergenceDisplay:
        """Draw how the fit of a model converged.

        Parameters
        ----------
        estimator : SMTLClassifier, or Pipeline that ends with one
            The fitted model.
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        **options
            Of `plot`: x, kind.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        needed = ("history_", "objective_", "dual_bound_")
        step = fitted_step(
            estimator, *needed, remedy="Give a fitted SMTLClassifier, or an SMTLClassifierCV with refit=True."
        )
        history = step.history_
        if not len(history.get("objective", ())):
            raise ValueError(
                "history_ must have at least one iteration, got none instead: no task has labels of both classes, and "
                "nothing was fitted."
            )
        # The best weights can be ones that stand between two entries.
        display = cls(
            objective=np.append(history["objective"][:-1], step.objective_),
            bound=np.append(history["bound"][:-1], step.dual_bound_),
            seconds=history["seconds"],
            passes=history["passes"],
            tol=getattr(step, "tol", None),
        )
        return display.plot(ax=ax, **options)

    def plot(self, ax: Axes | None = None, *, x: str = "seconds", kind: str = "objective") -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        x : {"seconds", "passes"}, default="seconds"
            What to draw against.
        kind : {"objective", "gap"}, default="objective"
            Objective and bound, or the relative gap between them on a logarithmic axis.

        Returns
        -------
        ConvergenceDisplay
            The display itself.
        """
        if x not in ("seconds", "passes"):
            raise ValueError(f"x must be 'seconds' or 'passes', got {x!r} instead.")
        if kind not in ("objective", "gap"):
            raise ValueError(f"kind must be 'objective' or 'gap', got {kind!r} instead.")
        self.ax_ = canvas(ax)
        self.figure_ = self.ax_.figure
        self.ax_.set_xlabel(x if x == "seconds" else "passes over the data")
        values = self.seconds if x == "seconds" else self.passes
        self.ax_.set_xlim(0.0, 1.04 * float(values[-1]) or 1.0)
        self._plot_objective(values) if kind == "objective" else self._plot_gap(values)
        return self

    def _gaps(self) -> npt.NDArray[np.float64]:
        with np.errstate(invalid="ignore", divide="ignore"):
            gaps = (self.objective - self.bound) / self.objective
        return np.where(self.objective > 0.0, np.maximum(gaps, 0.0), 0.0)

    def _plot_objective(self, x: npt.NDArray[np.float64]) -> None:
        ax, blue, orange = self.ax_, *COLOURS[:2]
        self.area_ = ax.fill_between(x, self.bound, self.objective, step="post", color=blue, alpha=0.12, linewidth=0)
        (self.objective_line_,) = ax.plot(x, self.objective, color=blue, **_LOOK)
        (self.bound_line_,) = ax.plot(x, self.bound, color=orange, **_LOOK)
        objective, bound = float(self.objective[-1]), float(self.bound[-1])
        low = max(float(self.bound[np.isfinite(self.bound)].min(initial=objective)), -0.5 * abs(objective))
        high = min(float(self.objective[0]), 2.5 * abs(objective))
        margin = 0.05 * (high - low) or 0.1 * abs(objective) or 1.0
        ax.set_ylim(low - margin, high + margin)
        ax.set_ylabel("training objective")
        # From below, so that they stand in this order where all are the same.
        ends = [
            End(x[-1], bound, f"bound {bound:#.5g}", orange),
            End(x[-1], 0.5 * (objective + bound), f"gap {100.0 * self._gaps()[-1]:.2g} %", "black"),
            End(x[-1], objective, f"objective {objective:#.5g}", blue),
        ]
        self.labels_ = label_ends(ax, ends)

    def _plot_gap(self, x: npt.NDArray[np.float64]) -> None:
        ax, gaps = self.ax_, self._gaps()
        # A gap of zero has no place on the axis.
        shown = np.where(gaps > 0.0, gaps, np.nan)
        (self.gap_line_,) = ax.plot(x, shown, color=COLOURS[0], **_LOOK)
        ax.set_yscale("log")
        ax.set_ylabel("relative gap between objective and bound")
        ends = [End(x[-1], float(gaps[-1]), f"gap {100.0 * gaps[-1]:.2g} %", COLOURS[0])]
        self.tol_line_: Any = None
        if self.tol is not None:
            self.tol_line_ = ax.axhline(self.tol, color=GREY, linewidth=1.0, linestyle="--")
            ends.append(End(x[-1], self.tol, f"tol {100.0 * self.tol:.2g} %", GREY))
        self.labels_ = label_ends(ax, ends)
