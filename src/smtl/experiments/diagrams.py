"""Pictures of a study as SVG for a web page, whose style sheet gives them their colours.

Elements of a method carry ``data-m`` with the method's mark, by which the page hides them. Families of methods have
their class (``smtl``, ``cls``, ``reg``, ``other``) and their own shape of point, so that no colour is needed to tell
them apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from smtl.experiments.statistics import cliques
from smtl.plotting._parts import spread

__all__ = ["Mark", "critical_difference_diagram", "curves", "log_ticks", "scatter", "ticks"]

_DASHES = ("", "7 3", "2 3", "9 3 2 3", "1 4", "12 4", "4 2 1 2 1 2", "5 5")
_CORNERS = {
    "cls": ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)),
    "reg": ((0.0, -1.25), (1.2, 0.9), (-1.2, 0.9)),
    "other": ((0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)),
}
# Of the small print, in units of the picture: width of a letter, height of a line.
_LETTER, _LINE = 6.3, 14.0


class Mark(NamedTuple):
    """How a method is drawn.

    Examples
    --------
    >>> Mark("SMTL(AUC) l21", "smtl", "3", 0).family
    'smtl'
    """

    title: str
    family: str
    key: str
    place: int
    """Its place in its family, by which its lines are dashed."""


def critical_difference_diagram(
    marks: Sequence[Mark], ranks: Sequence[float], difference: float, caption: str, *, width: float = 760.0
) -> str:
    """Draw mean ranks, best on the left, and bars over those that do not differ (Demsar 2006).

    Parameters
    ----------
    marks : sequence of Mark
        The methods, best first.
    ranks : sequence of float
        Their mean ranks, ascending.
    difference : float
        The critical difference; NaN to draw the ranks without bars.
    caption : str
        What is shown, for those who do not see it.
    width : float, default=760.0
        Of the picture.

    Returns
    -------
    str
        An ``svg`` element.

    Examples
    --------
    >>> marks = [Mark(name, "other", str(k), k) for k, name in enumerate("abcd")]
    >>> svg = critical_difference_diagram(marks, [1.964, 2.0, 2.893, 3.143], 1.25, "AUC")
    >>> "CD = 1.25" in svg, svg.count('class="clique"')
    (True, 1)
    """
    k = len(ranks)
    side = 60.0 + _LETTER * min(max((len(mark.title) for mark in marks), default=0), 28)
    left, right, axis = side, width - side, 62.0

    def x(rank: float) -> float:
        return left + (right - left) * (rank - 1.0) / max(k - 1.0, 1.0)

    groups = cliques(list(ranks), difference) if math.isfinite(difference) else []
    # Bars one below another only where they would meet.
    levels: list[float] = []
    bars = []
    for first, last in groups:
        start, end = x(ranks[first]) - 5, x(ranks[last]) + 5
        level = next((n for n, taken in enumerate(levels) if taken < start - 4), len(levels))
        levels[level : level + 1] = [end]
        y = axis + 12 + 8 * level
        bars.append(f'<line class="clique" x1="{start:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{y:.1f}"/>')
    half = (k + 1) // 2
    top = axis + 26 + 8 * len(levels)
    height = top + 19 * half
    out = [f'<line class="axis" x1="{left:.1f}" y1="{axis}" x2="{right:.1f}" y2="{axis}"/>']
    step = max(1, round(k / 12))
    for tick in [*range(1, k, step), k] if k > 1 else [1]:
        if 0 < k - tick < step:
            continue  # too near to the last one
        out.append(_line("axis", x(tick), axis - 6, x(tick), axis))
        out.append(_text(x(tick), axis - 11, str(tick), "middle"))
    if math.isfinite(difference):
        if difference <= k - 1:
            end = x(1.0 + difference)
            out += [_line("cd", left, 22, end, 22), _line("cd", left, 17, left, 27), _line("cd", end, 17, end, 27)]
            out.append(_text(left, 12, f"CD = {difference:.2f}"))
        else:
            out.append(_text(left, 20, f"CD = {difference:.2f}, more than the whole scale"))
    for place, (mark, value) in enumerate(zip(marks, ranks, strict=True)):
        on_left = place < half
        y = top + 19 * (place if on_left else k - 1 - place)
        end = left - 12 if on_left else right + 12
        label = f"{escape(_short(mark.title))} <tspan class='rank'>{value:.2f}</tspan>"
        out.append(
            f'<g class="{mark.family}" data-m="{mark.key}"><path class="elbow" d="M{x(value):.1f} {axis}V{y:.1f}'
            f'H{end:.1f}"/>{_text(end + (-5 if on_left else 5), y + 4, label, "end" if on_left else "start", raw=True)}'
            "</g>"
        )
    return _svg("cd-diagram", width, height, caption, [*out, *bars])


def curves(
    marks: Sequence[Mark],
    x: Sequence[float],
    values: Sequence[Sequence[float]],
    caption: str,
    x_labels: Sequence[str],
    *,
    width: float = 520.0,
    height: float = 360.0,
) -> str:
    """Draw one line a method, with its name at the end.

    Parameters
    ----------
    marks : sequence of Mark
        The methods.
    x : sequence of float
        Where the points stand, ascending.
    values : sequence of sequence of float
        For each method the heights; NaN for a gap.
    caption : str
        What is shown.
    x_labels : sequence of str
        What is written below.
    width, height : float
        Of the picture.

    Returns
    -------
    str
        An ``svg`` element.

    Examples
    --------
    >>> svg = curves([Mark("BR", "other", "0", 0)], [1, 5, 10], [[70.0, 60.0, 50.0]], "AUC", ["1:1", "1:5", "1:10"])
    >>> svg.count("<polyline"), "1:10" in svg
    (1, True)
    """
    table = np.asarray(values, dtype=np.float64).reshape(len(marks), len(x))
    names = [_short(mark.title) for mark in marks]
    frame = _Frame(width, height, 44, width - 22 - 6.8 * max(map(len, names), default=0), 12, height - 30)
    lows, highs = (
        (table[np.isfinite(table)].min(), table[np.isfinite(table)].max()) if np.isfinite(table).any() else (0, 1)
    )
    margin = 0.04 * (highs - lows) or 1.0
    low, high = lows - margin, highs + margin
    reach = (x[-1] - x[0]) or 1.0

    def at(value: float) -> float:
        return frame.left + 8 + (frame.right - frame.left - 16) * (value - x[0]) / reach

    def up(value: float) -> float:
        return frame.bottom - (frame.bottom - frame.top) * (value - low) / (high - low)

    out = frame.horizontal([(up(tick), _tick(tick)) for tick in ticks(low, high)])
    out += [_text(at(value), frame.bottom + 18, label, "middle") for value, label in zip(x, x_labels, strict=True)]
    drawn = [place for place in range(len(marks)) if np.isfinite(table[place]).any()]
    ends = np.array([up(table[place][np.isfinite(table[place])][-1]) for place in drawn])
    distance = min(13.0, (frame.bottom - frame.top + 16) / max(len(drawn), 1))
    places = spread(ends, distance, frame.top - 6, frame.bottom + 10) if len(drawn) else ends
    for place, end, y in zip(drawn, ends, places, strict=True):
        mark = marks[place]
        known = [(at(a), up(b)) for a, b in zip(x, table[place], strict=True) if math.isfinite(b)]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in known)
        dash = _DASHES[mark.place % len(_DASHES)]
        shown = ", ".join(
            f"{label} {_tick(b)}" for label, b in zip(x_labels, table[place], strict=True) if math.isfinite(b)
        )
        out.append(
            f'<g class="curve {mark.family}" data-m="{mark.key}"><title>{escape(mark.title)}: {escape(shown)}</title>'
            f'<polyline points="{points}"{f""" stroke-dasharray="{dash}" """ if dash else ""}/>'
            + "".join(_symbol(mark.family, a, b, 3.2) for a, b in known)
            + f'<path class="leader" d="M{known[-1][0] + 5:.1f} {end:.1f}L{frame.right + 6:.1f} {y:.1f}"/>'
            + _text(frame.right + 9, y + 4, names[place])
            + "</g>"
        )
    return _svg("curves", width, height, caption, out)


def scatter(
    marks: Sequence[Mark],
    seconds: Sequence[float],
    values: Sequence[float],
    caption: str,
    x_title: str,
    *,
    width: float = 720.0,
    height: float = 430.0,
) -> str:
    """Draw quality against time on a logarithmic scale, with a line through those that no other beats in both.

    Parameters
    ----------
    marks : sequence of Mark
        The methods.
    seconds, values : sequence of float
        Their times, and their quality: more is better.
    caption : str
        What is shown.
    x_title : str
        What the time is of.
    width, height : float
        Of the picture.

    Returns
    -------
    str
        An ``svg`` element.

    Examples
    --------
    >>> marks = [Mark("BR", "other", "0", 0), Mark("SMTL", "smtl", "1", 0)]
    >>> scatter(marks, [1.0, 10.0], [60.0, 70.0], "AUC", "seconds").count('class="point')
    2
    """
    known = [k for k in range(len(marks)) if math.isfinite(values[k]) and math.isfinite(seconds[k]) and seconds[k] > 0]
    frame = _Frame(width, height, 50, width - 16, 14, height - 44)
    times = np.log10([seconds[k] for k in known]) if known else np.array([0.0])
    heights = np.array([values[k] for k in known]) if known else np.array([0.0])
    # Room for the names on the right.
    early, late = float(times.min()) - 0.15, float(times.max()) + 0.15
    late += 0.16 * (late - early)
    margin = 0.08 * float(heights.max() - heights.min()) or 1.0
    low, high = float(heights.min()) - margin, float(heights.max()) + margin
    xs = frame.left + (frame.right - frame.left) * (times - early) / (late - early)
    ys = frame.bottom - (frame.bottom - frame.top) * (heights - low) / (high - low)
    scale = (frame.bottom - frame.top) / (high - low)
    out = frame.horizontal([(frame.bottom - scale * (tick - low), _tick(tick)) for tick in ticks(low, high)])
    for tick in log_ticks(early, late):
        x = frame.left + (frame.right - frame.left) * (math.log10(tick) - early) / (late - early)
        out += [_line("grid", x, frame.top, x, frame.bottom), _text(x, frame.bottom + 17, f"{tick:g}", "middle")]
    out.append(_text((frame.left + frame.right) / 2, height - 6, x_title, "middle"))
    front, best = [], -math.inf
    for place in sorted(range(len(known)), key=lambda k: (times[k], -heights[k])):
        if heights[place] > best:
            best = heights[place]
            front.append((xs[place], ys[place]))
    if len(front) > 1:
        out.append(f'<polyline class="front" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in front)}"/>')
    boxes = [(x - 6.0, y - 6.0, x + 6.0, y + 6.0) for x, y in zip(xs, ys, strict=True)] if known else []
    for place, k in enumerate(known):
        mark, x, y = marks[k], float(xs[place]), float(ys[place])
        name = _short(mark.title)
        at_x, at_y, anchor = _place(x, y, _width(name), boxes, frame)
        near = abs(at_y - 4 - y) < 1 or (anchor == "middle" and abs(at_y - 4 - y) < 15)
        leader = "" if near else f'<path class="leader" d="M{x:.1f} {y:.1f}L{at_x:.1f} {at_y - 4:.1f}"/>'
        told = f"{mark.title}: {_tick(values[k])} in {seconds[k]:.3g} s"
        out.append(
            f'<g class="point {mark.family}" data-m="{mark.key}"><title>{escape(told)}</title>{leader}'
            f"{_symbol(mark.family, x, y, 5.0)}{_text(at_x, at_y, name, anchor)}</g>"
        )
    return _svg("scatter", width, height, caption, out)


def _place(
    x: float, y: float, wide: float, boxes: list[tuple[float, float, float, float]], frame: _Frame
) -> tuple[float, float, str]:
    """Find room for a name near its point, and take it."""
    best = (math.inf, (x + 9, y + 4, "start"), (x, y, x, y))
    for away in range(6):
        for side, anchor in ((9.0, "start"), (-9.0, "end"), (0.0, "middle")):
            for up in {-away, away} if away or side else ():
                at_y = y + 4 + up * 13.0
                begin = x + side - {"start": 0.0, "end": wide, "middle": wide / 2}[anchor]
                box = (begin, at_y - 10.0, begin + wide, at_y + 3.0)
                if box[0] < frame.left or box[2] > frame.right + 14 or box[1] < frame.top - 4 or box[3] > frame.bottom:
                    continue
                cost = 4.0 * away + sum(_overlap(box, other) for other in boxes)
                if cost < best[0]:
                    best = (cost, (x + side, at_y, anchor), box)
        if best[0] <= 4.0 * (away + 1):
            break  # further away is no better
    boxes.append(best[2])
    return best[1]


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


class _Frame(NamedTuple):
    """The field of a picture."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def horizontal(self, lines: Sequence[tuple[float, str]]) -> list[str]:
        out = []
        for y, label in lines:
            out += [_line("grid", self.left, y, self.right, y), _text(self.left - 6, y + 4, label, "end")]
        return [*out, _line("axis", self.left, self.bottom, self.right, self.bottom)]


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return round numbers between two.

    Parameters
    ----------
    low, high : float
        The ends.
    most : int, default=7
        About how many.

    Returns
    -------
    list of float
        One, two or five of some power of ten apart.

    Examples
    --------
    >>> ticks(61.3, 74.0)
    [62.0, 64.0, 66.0, 68.0, 70.0, 72.0, 74.0]
    """
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * n for n in (1, 2, 5, 10) if power * n >= raw * 0.99)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(n * step, 10) for n in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two on a logarithmic scale.

    Parameters
    ----------
    low, high : float
        Logarithms to the base ten.

    Returns
    -------
    list of float
        Powers of ten; twos and fives between them where those are few.

    Examples
    --------
    >>> log_ticks(-1.1, 2.0), log_ticks(0.0, 1.0)
    ([0.1, 1.0, 10.0, 100.0], [1.0, 2.0, 5.0, 10.0])
    """
    parts = (1, 2, 5) if high - low < 2.5 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    values = [round(n * 10.0**power, 12) for power in powers for n in parts]
    return [value for value in values if low - 1e-9 <= math.log10(value) <= high + 1e-9]


def _width(name: str) -> float:
    """Return about how wide a name is drawn; capitals are half as wide again as other signs."""
    return sum(9.0 if sign.isupper() else 6.0 for sign in name)


def _short(title: str) -> str:
    return title if len(title) <= 28 else f"{title[:27]}…"


def _tick(value: float) -> str:
    return f"{value:.4g}"


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", *, raw: bool = False) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text if raw else escape(text)}</text>'


def _symbol(family: str, x: float, y: float, r: float) -> str:
    if family == "smtl":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
    corners = _CORNERS.get(family, _CORNERS["other"])
    return f'<path d="M{"L".join(f"{x + 0.9 * r * a:.1f} {y + 0.9 * r * b:.1f}" for a, b in corners)}Z"/>'


def _svg(kind: str, width: float, height: float, caption: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(caption)}" '
        f'style="--wide:{width:g}px">{"".join(parts)}</svg>'
    )
