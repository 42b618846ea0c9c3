"""The picture of ``smtl datasets show``: how imbalanced the labels are, and which come together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from smtl.cli._labels import LabelCounts, ratio_text
from smtl.whole_file import whole_file

__all__ = ["draw_labels"]

# More names than these cannot be read; the most frequent labels are named then.
_MOST_NAMES = 30
_MOST_NUMBERS = 14
_MOST_POINTS = 2000  # of a curve: more than the picture has columns
_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "0.45"
_SMALL = 8.5


def draw_labels(path: Path, title: str, counts: LabelCounts) -> None:
    """Draw the imbalance of all labels and, if they share rows, the shares in which they come together.

    Parameters
    ----------
    path : Path
        The file.
    title : str
        The picture's title.
    counts : LabelCounts
        What to draw.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    m = len(counts.names)
    frequent = np.argsort(-np.nan_to_num(counts.share), kind="stable")
    named = frequent[:_MOST_NAMES]
    both = counts.Y is not None and m > 1
    height = min(max(4.2, 2.4 + 0.21 * len(named)), 9.0)
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    figure = Figure(figsize=(11.0 if both else 7.0, height), dpi=110, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2 if both else 1, squeeze=False, width_ratios=(1.0, 1.25) if both else None)[0]
    figure.suptitle(_plain(title), fontsize=12.5, fontweight="bold")
    if m <= _MOST_NAMES:
        _draw_stems(axes[0], counts, named)
    else:
        _draw_ranks(axes[0], counts, frequent)
    if both:
        _draw_together(figure, axes[1], counts, named)
    with whole_file(path) as part:
        figure.savefig(part, format=path.suffix[1:].lower())


def _draw_stems(axes: Any, counts: LabelCounts, order: npt.NDArray[np.intp]) -> None:
    """Draw a stem for each label, from even (1) to its imbalance, the most frequent at the top."""
    ratio = counts.imbalance[order]
    finite = np.isfinite(ratio) & (ratio > 0)
    place = np.arange(len(order))
    axes.hlines(place[finite], 1.0, ratio[finite], color=_BLUE, linewidth=2.0)
    axes.scatter(ratio[finite], place[finite], s=36, c=_BLUE, zorder=3)
    for k in place:
        if finite[k]:
            right = ratio[k] >= 1.0
            axes.annotate(
                ratio_text(ratio[k]),
                (ratio[k], k),
                xytext=(6 if right else -6, 0),
                textcoords="offset points",
                ha="left" if right else "right",
                va="center",
                fontsize=_SMALL,
            )
        else:
            axes.text(1.0, k, " no positives" if ratio[k] != 0 else " no negatives", va="center", fontsize=_SMALL)
    axes.axvline(1.0, color=_GREY, linewidth=0.8)
    axes.set_xscale("log")
    low, high = ratio[finite].min(initial=1.0), ratio[finite].max(initial=1.0)
    room = max(high / low, 2.0) ** 0.16
    axes.set_xlim(low / (room if low < 1.0 else 1.0), high * room)
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_yticks(place, _short([counts.names[k] for k in order]), fontsize=_SMALL)
    _finish(axes, "x", "negatives for each positive; 1 is even", "Imbalance")


def _draw_ranks(axes: Any, counts: LabelCounts, order: npt.NDArray[np.intp]) -> None:
    """Draw all labels by their rank, and name some."""
    ratio = counts.imbalance[order]
    drawn = np.isfinite(ratio) & (ratio > 0)
    rank = np.arange(1, len(order) + 1)
    shown = _spread(np.flatnonzero(drawn))
    axes.plot(rank[shown], ratio[shown], color=_BLUE, linewidth=0.8)
    axes.scatter(rank[shown], ratio[shown], s=12, c=_BLUE, zorder=3)
    axes.axhline(1.0, color=_GREY, linewidth=0.8)
    axes.set_yscale("log")
    middle = float(np.median(ratio))
    if np.isfinite(middle):
        axes.axhline(middle, color=_ORANGE, linewidth=1.4, linestyle="--")
        text = f"median {ratio_text(middle)}"
        axes.text(rank[-1], middle, text, ha="right", va="bottom", color=_ORANGE, fontsize=_SMALL)
    for k, where in ((shown[0], (14, -4)), (shown[-1], (-14, 6))) if len(shown) else ():
        name = _short([counts.names[order[k]]])[0]
        axes.annotate(
            f"{name}: {ratio_text(ratio[k])}",
            (rank[k], ratio[k]),
            xytext=where,
            textcoords="offset points",
            ha="right" if where[0] < 0 else "left",
            va="center",
            fontsize=_SMALL,
            arrowprops={"arrowstyle": "-", "color": _GREY, "linewidth": 0.8},
        )
    if not drawn.all():
        text = f"{np.count_nonzero(~drawn):,} labels have no positives or no negatives"
        axes.text(0.02, 0.98, text, transform=axes.transAxes, va="top", fontsize=_SMALL)
    axes.set_xlabel("label, by its rank in frequency")
    _finish(axes, "y", "negatives for each positive; 1 is even", f"Imbalance of {len(order):,} labels")


def _spread(places: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return some of many places, from the first to the last: a curve that only rises looks the same through them."""
    if len(places) <= _MOST_POINTS:
        return places
    return places[np.linspace(0, len(places) - 1, _MOST_POINTS).round().astype(np.intp)]


def _draw_together(figure: Any, axes: Any, counts: LabelCounts, order: npt.NDArray[np.intp]) -> None:
    """Draw the share of rows with one label that have the other; a label with itself stays blank."""
    share = counts.together(order)
    np.fill_diagonal(share, np.nan)
    axes.set_facecolor("0.88")
    top = float(np.nan_to_num(share).max()) or 1.0
    image = axes.imshow(share, cmap="Blues", vmin=0.0, vmax=top, aspect="auto")
    names = _short([counts.names[k] for k in order], 22)
    place = np.arange(len(order))
    axes.set_xticks(place, names, rotation=90, fontsize=_SMALL)
    axes.set_yticks(place, names, fontsize=_SMALL)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if len(order) <= _MOST_NUMBERS:
        for i, j in zip(*np.nonzero(np.isfinite(share)), strict=True):
            colour = "white" if share[i, j] > 0.55 * top else "0.15"
            axes.text(j, i, f"{100 * share[i, j]:.0f}", ha="center", va="center", fontsize=7.5, color=colour)
    bar = figure.colorbar(image, ax=axes, shrink=0.8, aspect=30, pad=0.02)
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    bar.ax.tick_params(labelsize=_SMALL)
    bar.outline.set_visible(False)
    all_of_them = len(order) == len(counts.names)
    few = "Which come together" if all_of_them else f"Which of the {len(order)} most frequent come together"
    if not np.nan_to_num(share).any():
        few = "No two labels come together"
    axes.set_title(few, fontsize=11, loc="left", pad=22)
    text = "of the rows with the label at the left, the share that has the one below"
    axes.text(0.0, 1.012, text, transform=axes.transAxes, fontsize=_SMALL, color=_GREY, va="bottom")


def _finish(axes: Any, axis: str, label: str, title: str) -> None:
    (axes.set_xlabel if axis == "x" else axes.set_ylabel)(label)
    scale = axes.xaxis if axis == "x" else axes.yaxis
    low, high = scale.get_view_interval()
    # Decades alone would leave a short axis with one tick.
    steps = (1.0, 2.0, 5.0) if high / low < 50.0 else (1.0,)
    ticks = [step * 10.0**power for power in range(-9, 10) for step in steps]
    scale.set_ticks([tick for tick in ticks if low <= tick <= high])
    scale.set_ticks([], minor=True)
    scale.set_major_formatter(lambda value, _: f"{value:g}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=axis, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=11, loc="left", pad=22)


def _short(names: list[str], longest: int = 26) -> list[str]:
    from smtl.plotting._names import shorten_all

    return shorten_all(names, longest)


def _plain(text: str) -> str:
    return text.replace("$", r"\$")
