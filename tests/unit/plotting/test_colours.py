"""One set of colours for all pictures, which readers with any kind of colour blindness tell apart."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from smtl.plotting._parts import COLOURS

ROOT = Path(__file__).resolve().parents[3]
# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
SEEN_BY = {
    "all cones": np.eye(3),
    "protanopes": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopes": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopes": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = np.array([0.9505, 1.0, 1.089])
JUST_SEEN = 2.3  # a just noticeable difference, in units of CIELAB


def linear(colour):
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(colour, matrix):
    """Return a colour in CIELAB, as it is seen through a matrix on linear RGB."""
    t = TO_XYZ @ np.clip(matrix @ linear(colour), 0.0, 1.0) / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_arithmetic_is_that_of_cielab():
    assert lab("#ffffff", np.eye(3)) == pytest.approx([100, 0, 0], abs=0.1)
    assert lab("#ff0000", np.eye(3)) == pytest.approx([53.24, 80.09, 67.20], abs=0.1)  # from the standard's tables
    assert lab("#808080", np.asarray(SEEN_BY["deuteranopes"])) == pytest.approx([53.59, 0, 0], abs=0.1)  # grey stays


@pytest.mark.parametrize("kind", SEEN_BY)
def test_colours_are_told_apart(kind):
    seen = [lab(colour, np.asarray(SEEN_BY[kind])) for colour in COLOURS]
    nearest = min(
        (np.linalg.norm(a - b), (COLOURS[i], COLOURS[j]))
        for (i, a), (j, b) in itertools.combinations(enumerate(seen), 2)
    )
    assert nearest[0] > 5 * JUST_SEEN, nearest
    # The first four, which most pictures need, are far apart.
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen[:4], 2)) > 7 * JUST_SEEN
    assert min(np.linalg.norm(a - [100, 0, 0]) for a in seen) > 10 * JUST_SEEN  # and from white


def test_red_and_green_would_not_pass():
    seen = [lab(colour, np.asarray(SEEN_BY["deuteranopes"])) for colour in ("#a05000", "#508000")]
    assert np.linalg.norm(seen[0] - seen[1]) < 6 * JUST_SEEN


def test_all_pictures_use_these():
    files = [*(ROOT / "src" / "smtl").rglob("*.py"), *(ROOT / "examples").glob("*.py")]
    used = {
        colour.upper(): path.name
        for path in files
        for colour in re.findall(r'["\'](#[0-9A-Fa-f]{6})["\']', path.read_text(encoding="utf-8"))
    }
    assert len(used) >= 4
    assert {colour: name for colour, name in used.items() if colour not in COLOURS} == {}
    named = r'(?:color|colour|c)\s*=\s*["\'](?:C\d|[rgbcmy]|red|green|blue|orange|purple|cyan|magenta)["\']'
    assert [path.name for path in files if re.search(named, path.read_text(encoding="utf-8"))] == []
