"""The picture of `smtl demo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["SUFFIXES", "draw"]

Float: TypeAlias = npt.NDArray[np.float64]

SUFFIXES = (".png", ".pdf", ".svg")

# Okabe and Ito's colours, which colour-blind readers tell apart; the markers differ as well.
_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#8c8c8c"


def draw(
    path: Path,
    *,
    title: str,
    names: Sequence[str],
    scores: Mapping[str, Float],
    history: Mapping[str, Float],
    gap: float,
) -> None:
    """Draw F1 of two methods for each task, and how the fit converged.

    Parameters
    ----------
    path : Path
        The file, with one of `SUFFIXES`.
    title : str
        The picture's title.
    names : sequence of str
        Names of the tasks.
    scores : mapping of str to ndarray of shape (n_tasks,)
        F1 of the two methods, by their names.
    history : mapping of str to ndarray
        ``history_`` of the fitted model.
    gap : float
        The certified gap.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(10.0, 4.6), dpi=110, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    figure.suptitle(title, fontsize=12.5, fontweight="bold")
    _draw_scores(left, names, scores)
    _draw_convergence(right, history, gap)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
    figure.savefig(path)


def _draw_scores(axes: Any, names: Sequence[str], scores: Mapping[str, Float]) -> None:
    """Draw a pair of points for each task, and one for the mean behind a line."""
    with_mean = np.array([np.append(values, values.mean()) for values in scores.values()])
    place = np.append(np.arange(len(names)), len(names) + 0.5)
    axes.vlines(place, with_mean.min(axis=0), with_mean.max(axis=0), color="0.75", linewidth=2.0, zorder=1)
    # Where both are equal, the diamond lies inside the circle.
    looks = [(_BLUE, "o", 75), (_ORANGE, "D", 26)]
    for values, label, (colour, marker, size) in zip(with_mean, scores, looks, strict=True):
        name = f"{label}, mean {values[-1]:.3f}"
        axes.scatter(place, values, s=size, c=colour, marker=marker, edgecolors="white", linewidths=0.6, label=name)
    axes.axvline(len(names) - 0.25, color="0.8", linewidth=0.8)
    axes.set_xticks(place, [*names, "mean"])
    low = float(with_mean.min())
    axes.set_ylim(np.floor(low * 20.0) / 20.0 - 0.02, 1.0 + 0.08 * (1.0 - low))
    axes.set_xlabel("digit")
    axes.set_ylabel("F1 on held-out rows")
    _head(axes, "Each digit is one yes/no task")


def _draw_convergence(axes: Any, history: Mapping[str, Float], gap: float) -> None:
    """Draw the best objective so far and the bound: the optimum lies between them."""
    from matplotlib.ticker import MaxNLocator

    objective = np.minimum.accumulate(history["objective"])
    bound = history["bound"]
    iteration = np.arange(1, len(objective) + 1)
    axes.fill_between(iteration, bound, objective, color=_BLUE, alpha=0.12, linewidth=0)
    axes.plot(iteration, objective, color=_BLUE, linewidth=2.2, label="best objective so far")
    axes.plot(iteration, bound, color=_ORANGE, linewidth=2.2, linestyle="--", label="bound from below")
    last = float(objective[-1])
    finite = bound[np.isfinite(bound)]
    low = max(float(finite.min(initial=last)), -0.5 * last)
    high = min(float(objective[0]), 2.5 * last)
    margin = 0.06 * (high - low) or 0.1 * abs(last) or 1.0
    axes.set_ylim(low - margin, high + margin)
    axes.set_xlim(0, iteration[-1] * 1.04)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.annotate(
        f"certified gap {100.0 * gap:.2g} %\nafter {iteration[-1]} iterations, {history['seconds'][-1]:.2f} s",
        xy=(iteration[-1], last),
        xytext=(0.97, 0.96),
        textcoords="axes fraction",
        ha="right",
        va="top",
        fontsize=10,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        arrowprops={"arrowstyle": "->", "color": _GREY, "shrinkB": 4},
    )
    axes.set_xlabel("iteration")
    axes.set_ylabel("training objective")
    _head(axes, "The optimum lies in the shaded band")


def _head(axes: Any, title: str) -> None:
    """Put title and legend above the axes, where they cover no data."""
    axes.set_title(title, fontsize=11, loc="left", pad=26)
    place = {"loc": "lower left", "bbox_to_anchor": (-0.01, 0.995), "ncols": 2}
    axes.legend(**place, fontsize=9, frameon=False, borderaxespad=0.2, handletextpad=0.5, columnspacing=1.5)
