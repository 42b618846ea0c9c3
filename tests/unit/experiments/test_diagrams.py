from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from smtl.experiments.diagrams import Mark, critical_difference_diagram, curves, log_ticks, scatter, ticks
from smtl.experiments.statistics import mean_ranks
from tests.unit.experiments.test_statistics import DEMSAR

DEMSAR_METHODS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]


def marks(names: list[str]) -> list[Mark]:
    return [Mark(name, "other", str(k), k) for k, name in enumerate(names)]


def read(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def texts(root: ET.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter("text")]


def scale_of(root: ET.Element) -> tuple[float, float]:
    """Return where rank 0 is, and how wide a rank is, from the numbers below the ticks."""
    at = {e.text: float(e.get("x", "nan")) for e in root.iter("text") if e.text and e.text.isdigit()}
    low, high = min(at, key=int), max(at, key=int)
    unit = (at[high] - at[low]) / (int(high) - int(low))
    return at[low] - unit * int(low), unit


def test_the_diagram_has_the_numbers_of_demsar_2006() -> None:
    found = mean_ranks(DEMSAR)
    order = np.argsort(found.ranks)
    ranks = found.ranks[order]
    svg = critical_difference_diagram(
        marks([DEMSAR_METHODS[m] for m in order]), ranks.tolist(), found.critical_difference, "AUC"
    )
    root = read(svg)
    assert "CD = 1.25" in texts(root)
    for name, rank in zip(DEMSAR_METHODS, ("3.14", "2.00", "2.89", "1.96"), strict=True):
        assert f"{name} {rank}" in texts(root)
    # All are within one critical difference of each other: one bar from the first to the last.
    bars = [e for e in root.iter("line") if e.get("class") == "clique"]
    assert len(bars) == 1
    zero, unit = scale_of(root)
    ends = [(float(bars[0].get(x, "nan")) - zero) / unit for x in ("x1", "x2")]
    assert ends == pytest.approx([ranks[0], ranks[-1]], abs=6 / unit)
    # The bracket is as wide as the critical difference, and each method's line starts at its rank.
    bracket = max(float(e.get("x2", 0)) - float(e.get("x1", 0)) for e in root.iter("line") if e.get("class") == "cd")
    assert bracket / unit == pytest.approx(found.critical_difference, abs=0.01)
    starts = [float(re.match(r"M([\d.]+) ", e.get("d", ""))[1]) for e in root.iter("path")]  # type: ignore[index]
    assert [(x - zero) / unit for x in starts] == pytest.approx(ranks, abs=0.1 / unit)


@pytest.mark.parametrize("seed", range(5))
def test_bars_join_just_those_within_the_critical_difference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = np.sort(rng.uniform(1, 12, size=12))
    difference = float(rng.uniform(1, 5))
    root = read(critical_difference_diagram(marks([f"m{k}" for k in range(12)]), ranks.tolist(), difference, "x"))
    zero, unit = scale_of(root)
    bars = [
        tuple((float(e.get(x, "nan")) - zero) / unit for x in ("x1", "x2"))
        for e in root.iter("line")
        if e.get("class") == "clique"
    ]
    slack = 5.1 / unit  # bars stand out a little
    for a in ranks:
        for b in ranks[ranks > a]:
            joined = any(low - 1e-9 <= a and b <= high + 1e-9 for low, high in bars)
            if b - a <= difference:
                assert joined
            elif b - a > difference + 2 * slack:
                assert not joined


def test_names_are_harmless_and_nothing_is_cut_off() -> None:
    hostile = marks(['<script>alert(1)</script>"&', "x" * 100, "b"])
    for svg in (
        critical_difference_diagram(hostile, [1.0, 2.0, 3.0], math.nan, 'a"b<c'),
        curves(hostile, [1, 5], [[1.0, 2.0], [2.0, math.nan], [math.nan, math.nan]], 'a"b<c', ["1:1", "1:5"]),
        scatter(hostile, [1.0, 2.0, math.nan], [1.0, 2.0, 3.0], 'a"b<c', "seconds"),
    ):
        root = read(svg)
        assert not list(root.iter("script"))
        assert root.get("aria-label") == 'a"b<c'
        width, height = map(float, root.get("viewBox", "").split()[2:])
        for element in root.iter("text"):
            assert 0 <= float(element.get("x", "nan")) <= width
            assert 0 <= float(element.get("y", "nan")) <= height


def test_curves_go_through_the_values() -> None:
    values = [[80.0, 60.0, 40.0], [70.0, 65.0, 45.0]]
    root = read(curves(marks(["a", "b"]), [1, 5, 10], values, "AUC", ["1:1", "1:5", "1:10"]))
    lines = [[tuple(map(float, p.split(","))) for p in e.get("points", "").split()] for e in root.iter("polyline")]
    x, y = np.array(lines)[..., 0], np.array(lines)[..., 1]
    # Straight lines through the ends of both scales.
    assert (x[0, 1] - x[0, 0]) / (x[0, 2] - x[0, 0]) == pytest.approx(4 / 9, abs=2e-3)
    slope, shift = np.polyfit(np.ravel(values), y.ravel(), 1)
    assert slope < 0
    assert y.ravel() == pytest.approx(slope * np.ravel(values) + shift, abs=0.11)


def test_a_scatter_is_logarithmic_in_time_and_marks_who_is_not_beaten() -> None:
    root = read(scatter(marks(["a", "b", "c"]), [0.1, 1.0, 10.0], [50.0, 60.0, 55.0], "AUC", "seconds"))
    starts = [re.match(r"M([\d.]+) ([\d.]+)", e.get("d", "")) for e in root.iter("path") if e.get("class") != "leader"]
    x = [float(m[1]) for m in starts if m]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    front = [e for e in root.iter("polyline") if e.get("class") == "front"]
    assert len(front[0].get("points", "").split()) == 2


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (61.3, 74.0), (99.1, 99.9), (-5.0, 5.0)])
def test_ticks_are_round_and_within(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 3 <= len(found) <= 9
    assert low - 1e-9 <= found[0]
    assert found[-1] <= high + 1e-9
    assert np.ptp(np.diff(found)) < 1e-9


def test_ticks_of_a_short_logarithmic_scale() -> None:
    assert log_ticks(0.0, 1.0) == [1.0, 2.0, 5.0, 10.0]
    assert log_ticks(-2.0, 2.0) == [0.01, 0.1, 1.0, 10.0, 100.0]
