"""What the pictures share: a fitted model, axes, colours, and labels that keep clear of one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from smtl.extras import of_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation, Text

__all__ = [
    "COLOURS",
    "GREY",
    "SMALL",
    "End",
    "Float",
    "axes_points",
    "before_last_step",
    "canvas",
    "fitted_step",
    "label_ends",
    "mark_C",
    "spread",
]

Float: TypeAlias = npt.NDArray[np.float64]

# Okabe and Ito's colours, which colour-blind readers tell apart; their yellow, faint on white, is an olive here.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
GREY = "0.45"
# Points of the small print: names, and labels in the picture.
SMALL = 8.5


class End(NamedTuple):
    """What is to be written where a line ends."""

    x: float
    y: float
    text: str
    colour: str


def canvas(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return the axes to draw on: those given, or new ones in a figure that makes room for labels outside of them."""
    if ax is None:
        with of_extra("plots", "plots"):
            import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def fitted_step(model: Any, *attributes: str, remedy: str) -> Any:
    """Return the model, or the last step of a pipeline, once it is known to be fitted and to have the attributes."""
    step = model[-1] if isinstance(model, Pipeline) else model
    check_is_fitted(step)
    missing = [name for name in attributes if not hasattr(step, name)]
    if missing:
        raise ValueError(
            f"the estimator must have {', '.join(attributes)}, got {type(step).__name__} without "
            f"{', '.join(missing)} instead. {remedy}"
        )
    return step


def before_last_step(model: Any, X: Any) -> Any:
    """Return X as the last step of a pipeline gets it; X itself for a model that is no pipeline."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X


def spread(positions: Float, distance: float, low: float, high: float) -> Float:
    """Return the positions nearest to the given ones, in their order, that keep a distance.

    With z_k = x_k - k * distance, keeping it is the same as z not falling: isotonic regression. They stay between low
    and high if there is room for all.
    """
    order = np.argsort(positions, kind="stable")
    steps = distance * np.arange(len(positions))
    room = max(high - low - steps[-1], 0.0) if len(steps) else 0.0
    z = isotonic_regression(positions[order] - steps, y_min=low, y_max=low + room)
    placed = np.empty(len(positions))
    placed[order] = z + steps
    return placed


def axes_points(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes in points, after the figure's layout and with the limits up to date."""
    root: Any = ax.figure.canvas.figure
    ax.get_ylim()
    if root.get_layout_engine() is not None:
        root.get_layout_engine().execute(root)
    box = ax.get_window_extent()
    return box.width * 72.0 / root.dpi, box.height * 72.0 / root.dpi


def label_ends(ax: Axes, labels: Sequence[End]) -> list[Annotation]:
    """Write to the right of the axes what ends at each point, one label clear of another.

    The limits of the axes must be final: the labels' distance is in points, and is turned into data units here.
    """
    labels = [label for label in labels if np.isfinite(label.y)]
    if not labels:
        return []
    _, height = axes_points(ax)
    to_axes = ax.transData + ax.transAxes.inverted()
    # A line that leaves the axes ends at their edge.
    ends = np.clip(to_axes.transform([(label.x, label.y) for label in labels]), 0.0, 1.0)
    places = np.column_stack([ends[:, 0], spread(ends[:, 1], 1.35 * SMALL / height, 0.0, 1.0)])
    ends, places = to_axes.inverted().transform(ends), to_axes.inverted().transform(places)
    # Dotted, so that nobody takes a leader for data.
    leader = {"arrowstyle": "-", "linewidth": 0.8, "linestyle": ":", "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)}
    return [
        ax.annotate(
            label.text,
            xy=end,
            xytext=(1.04, place[1]),
            textcoords=ax.get_yaxis_transform(),
            va="center",
            color=label.colour,
            fontsize=SMALL,
            annotation_clip=False,
            arrowprops=leader | {"color": label.colour},
        )
        for label, end, place in zip(labels, ends, places, strict=True)
    ]


def mark_C(ax: Axes, C: float, text: str, *, height: float, colour: str) -> Text:
    """Draw a vertical line at C, with a text beside it at a height in fractions of the axes, where there is room."""
    ax.axvline(C, color=colour, linewidth=1.0, linestyle=":", zorder=1)
    place = (ax.transData + ax.transAxes.inverted()).transform((C, ax.get_ylim()[0]))[0]
    to_the_left = place > 0.7
    return ax.annotate(
        text,
        xy=(C, height),
        xycoords=ax.get_xaxis_transform(),
        xytext=(-5.0 if to_the_left else 5.0, 0.0),
        textcoords="offset points",
        ha="right" if to_the_left else "left",
        va="center",
        color=colour,
        fontsize=SMALL,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
    )
