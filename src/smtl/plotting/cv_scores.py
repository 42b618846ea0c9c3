"""The held-out score against C, and the C that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from smtl.plotting._names import name_of
from smtl.plotting._parts import COLOURS, GREY, End, Float, canvas, fitted_step, label_ends, mark_C
from smtl.plotting._search import candidates, over_folds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CVScoreDisplay"]


class CVScoreDisplay:
    """Mean held-out score against C, with its spread over the folds and the chosen C.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,)
        Values of C.
    scores : array-like of shape (n_folds, n_Cs)
        Score of each fold.
    C : float
        The one chosen.
    score_name : str, default="score"
        What the score is.
    selection : {"best", "1se"}, default="best"
        How it was chosen; for ``"1se"`` the best C and one standard error below its score are shown as well.
    label : str, default=None
        What these scores are of, where there are others.
    others : mapping of str to (Cs, means), default=None
        Mean scores of other candidates.

    Attributes
    ----------
    line_, band_, fold_lines_ : matplotlib artists
        The means, their spread and the single folds.
    other_lines_ : list of matplotlib Line2D
        The other candidates.
    chosen_, C_label_ : matplotlib Line2D and Text
        Point and text at the chosen C.
    best_, se_line_ : matplotlib Line2D or None
        The best point, and one standard error below it.
    labels_ : list of matplotlib Annotation
        Names of the lines.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from smtl.plotting import CVScoreDisplay
    >>> display = CVScoreDisplay(Cs=[0.1, 1.0], scores=[[0.5, 0.7], [0.6, 0.8]], C=1.0, score_name="f1").plot()
    >>> display.line_.get_ydata(), display.C_label_.get_text()
    (array([0.55, 0.75]), 'C = 1')
    """

    def __init__(
        self,
        *,
        Cs: npt.ArrayLike,
        scores: npt.ArrayLike,
        C: float,
        score_name: str = "score",
        selection: str = "best",
        label: str | None = None,
        others: Mapping[str, tuple[Float, Float]] | None = None,
    ) -> None:
        self.Cs = np.asarray(Cs, dtype=np.float64)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.C = C
        self.score_name = score_name
        self.selection = selection
        self.label = label
        self.others = dict(others or {})

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, all_candidates: bool = False, ax: Axes | None = None, **options: Any
    ) -> CVScoreDisplay:
        """Draw the scores of a fitted search.

        Parameters
        ----------
        estimator : SMTLClassifierCV, or Pipeline that ends with one
            The fitted model.
        all_candidates : bool, default=False
            Whether to show, beside the chosen metric, penalty and ridge, the others that were tried.
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        **options
            Of `plot`: spread, folds.

        Returns
        -------
        CVScoreDisplay
            The display.
        """
        step = fitted_step(estimator, "Cs_", "scores_", "C_", remedy="Give a fitted SMTLClassifierCV.")
        scoring = getattr(step, "scoring", None)
        if scoring is None:
            given = getattr(step, "metric", None)
            raced = isinstance(given, str) and given == "auto"  # then macro F1 is what it is judged by
            scoring = "f1" if raced else getattr(step, "metric_", "score")
        label, others = None, {}
        if all_candidates:
            means = over_folds(np.asarray(step.scores_))[0]
            for name, Cs, values in candidates(step.cv_results_):
                if label is None and np.array_equal(Cs, step.Cs_) and np.allclose(values, means, equal_nan=True):
                    label = name
                else:
                    others[name] = Cs, values
        display = cls(
            Cs=step.Cs_,
            scores=step.scores_,
            C=step.C_,
            score_name=name_of(scoring),
            selection=getattr(step, "selection", "best"),
            label=label,
            others=others,
        )
        return display.plot(ax=ax, **options)

    def plot(self, ax: Axes | None = None, *, spread: str | None = "se", folds: bool = False) -> CVScoreDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        spread : {"se", "std"} or None, default="se"
            The band around the mean: one standard error, one standard deviation over the folds, or none.
        folds : bool, default=False
            Whether to draw each fold as a thin line.

        Returns
        -------
        CVScoreDisplay
            The display itself.
        """
        if spread not in ("se", "std", None):
            raise ValueError(f"spread must be 'se', 'std' or None, got {spread!r} instead.")
        self.ax_ = ax = canvas(ax)
        self.figure_ = ax.figure
        (means, std, error), Cs, blue = over_folds(self.scores), self.Cs, COLOURS[0]
        width = {"se": error, "std": std}.get(str(spread))
        ends: list[End] = []
        self.fold_lines_ = ax.plot(Cs, self.scores.T, color="0.75", linewidth=0.7, zorder=1.5) if folds else []
        if folds:
            ends.append(End(Cs[-1], float(np.min(self.scores[:, -1])), "single folds", GREY))
        self.band_: Any = None
        if width is not None:
            self.band_ = ax.fill_between(Cs, means - width, means + width, color=blue, alpha=0.15, linewidth=0)
        self.other_lines_ = self._plot_others(ends)
        (self.line_,) = ax.plot(Cs, means, color=blue, linewidth=2.0, marker="o", markersize=3.5, zorder=3)
        if self.label is not None:
            ends.append(End(Cs[-1], means[-1], self.label, blue))
        ax.set_xscale("log")
        band = {"se": " ± standard error", "std": " ± standard deviation"}.get(str(spread), "")
        ax.set(xlabel="C", ylabel=f"held-out {self.score_name}\nmean of {len(self.scores)} folds{band}")
        self._mark(means, error, ends)
        self.labels_ = label_ends(ax, ends)
        return self

    def _plot_others(self, ends: list[End]) -> list[Any]:
        """Draw the other candidates, the best of them coloured and named."""
        ranked = sorted(self.others.items(), key=lambda item: -np.nan_to_num(item[1][1], nan=-np.inf).max())
        lines: list[Any] = []
        for k, (name, (Cs, means)) in enumerate(ranked, start=1):
            colour = COLOURS[k] if k < len(COLOURS) else "0.8"
            lines += self.ax_.plot(Cs, means, color=colour, linewidth=1.2, marker="o", markersize=2.5, zorder=2)
            if k < len(COLOURS):
                ends.append(End(Cs[-1], means[-1], name, colour))
        return lines

    def _mark(self, means: Float, error: Float, ends: list[End]) -> None:
        """Mark the chosen C, and by what it was chosen."""
        ax, best = self.ax_, int(np.argmax(np.nan_to_num(means, nan=-np.inf)))
        by_error = self.selection == "1se"
        # A strip below the lines, for the texts.
        low, high = ax.get_ylim()
        ax.set_ylim(low - (0.16 if by_error else 0.09) * (high - low), high)
        self.best_: Any = None
        self.se_line_: Any = None
        if by_error:
            level = float(means[best] - error[best])
            self.se_line_ = ax.axhline(level, color=GREY, linewidth=1.0, linestyle="--", zorder=1)
            ends.append(End(self.Cs[-1], level, "best minus std. error", GREY))
            look: dict[str, Any] = {"marker": "D", "markersize": 8.0, "markerfacecolor": "white", "linestyle": "none"}
            (self.best_,) = ax.plot(self.Cs[best], means[best], color=GREY, zorder=4, **look)
            mark_C(ax, self.Cs[best], f"best {self.Cs[best]:.3g}", height=0.10, colour=GREY)
        chosen = int(np.argmin(np.abs(np.log(self.Cs / self.C))))
        (self.chosen_,) = ax.plot(self.C, means[chosen], color=COLOURS[0], marker="o", markersize=9.0, zorder=5)
        self.C_label_ = mark_C(ax, self.C, f"C = {self.C:.3g}", height=0.04, colour=COLOURS[0])
