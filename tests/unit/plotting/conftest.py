"""Figures without a window, closed after each test; and what is printed over what."""

import itertools

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def ax():
    """Axes without a layout, which takes most of the time: for tests that only read data back."""
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture
def collisions():
    """A function: the pairs of texts that overlap once the figure is drawn, and the texts that leave the figure."""

    def find(figure, texts):
        from matplotlib.text import Text

        figure.draw_without_rendering()
        # Text's own extent: that of an annotation has its leader line in it.
        boxes = [(text.get_text(), Text.get_window_extent(text)) for text in texts if text.get_text()]
        pairs = [(a, b) for (a, p), (b, q) in itertools.combinations(boxes, 2) if p.overlaps(q)]
        whole = figure.bbox.padded(1.0)
        return pairs + [(a,) for a, p in boxes if p.x0 < 0 or p.y0 < 0 or p.x1 > whole.x1 or p.y1 > whole.y1]

    return find
