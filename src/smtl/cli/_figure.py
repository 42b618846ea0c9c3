"""The picture of `smtl demo`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.whole_file import whole_file

__all__ = ["SUFFIXES", "draw"]

Float: TypeAlias = npt.NDArray[np.float64]

SUFFIXES = (".png", ".pdf", ".svg")

# Colours of Okabe and Ito, which colour-blind readers tell apart, markers, and their sizes; the markers differ as well.
_LOOKS = (("#0072B2", "o", 85), ("#D55E00", "D", 34), ("#009E73", "s", 34), ("#CC79A7", "^", 44))


def draw(path: Path, *, title: str, names: Sequence[str], scores: Mapping[str, Float]) -> None:
    """Draw F1 of several methods for each task, and the means.

    Parameters
    ----------
    path : Path
        The file, with one of `SUFFIXES`.
    title : str
        The picture's title.
    names : sequence of str
        Names of the tasks.
    scores : mapping of str to ndarray of shape (n_tasks,)
        F1 of up to four methods, by their names; the first is ours.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(10.0, 4.4), dpi=110, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08))
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1.0))
    figure.suptitle(title, fontsize=12.5, fontweight="bold")
    _draw_tasks(left, names, scores)
    _draw_means(right, scores)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    with whole_file(path) as part:
        figure.savefig(part, format=path.suffix[1:].lower())


def _draw_tasks(axes: Any, names: Sequence[str], scores: Mapping[str, Float]) -> None:
    """Draw a point for each method and task."""
    values = np.array(list(scores.values()))
    place = np.arange(len(names))
    axes.vlines(place, values.min(axis=0), values.max(axis=0), color="0.8", linewidth=2.0, zorder=1)
    # Where two are equal, the smaller marker lies inside the larger one.
    for row, label, (colour, marker, size) in zip(values, scores, _LOOKS, strict=False):
        axes.scatter(place, row, s=size, c=colour, marker=marker, edgecolors="white", linewidths=0.6, label=label)
    axes.set_xticks(place, names)
    low = float(values.min())
    axes.set_ylim(low - 0.1 * (1.0 - low), 1.0 + 0.06 * (1.0 - low))
    axes.set_xlabel("digit")
    axes.set_ylabel("F1 on held-out rows")
    axes.grid(axis="y", color="0.9", linewidth=0.8)
    _head(axes, "Each digit")


def _draw_means(axes: Any, scores: Mapping[str, Float]) -> None:
    """Draw the mean of each method, with its number: the markers are those of the other picture."""
    means = [float(values.mean()) for values in scores.values()]
    place = -np.arange(len(means))
    low = min(means) - 0.35 * (1.0 - min(means))
    for y, mean, (colour, marker, _) in zip(place, means, _LOOKS, strict=False):
        axes.axhline(y, color="0.9", linewidth=0.8, zorder=1)
        axes.scatter([mean], [y], s=70, c=colour, marker=marker, zorder=3)
        axes.annotate(f"{mean:.3f}", (mean, y), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=10)
    axes.set_yticks(place, list(scores))
    axes.set_ylim(place[-1] - 0.6, 0.7)
    axes.set_xlim(low, 1.0)
    axes.set_xlabel("mean F1 over the digits")
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    _head(axes, "All digits")


def _head(axes: Any, text: str) -> None:
    axes.set_title(text, fontsize=10.5, loc="left", color="0.25")
