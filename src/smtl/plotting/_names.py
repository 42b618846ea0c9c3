"""Names of features, tasks and metrics, at a length that fits into a picture."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any

from sklearn.pipeline import Pipeline

__all__ = ["name_of", "names_of_features", "shorten", "shorten_all"]


def name_of(metric: Any) -> str:
    """Return the name of a metric, a scorer or a penalty."""
    if isinstance(metric, str):
        return metric
    return shorten(getattr(metric, "name", None) or getattr(metric, "__name__", None) or repr(metric), 40)


def names_of_features(model: Any, n_features: int) -> list[str]:
    """Return names of the features that a model, or the last step of a pipeline, was fitted on."""
    piped = isinstance(model, Pipeline)
    names = getattr(model[-1] if piped else model, "feature_names_in_", None)
    if names is None and piped and len(model) > 1:
        # Not every transformer can name what it returns.
        with suppress(AttributeError, ValueError):
            names = model[:-1].get_feature_names_out()
    if names is None or len(names) != n_features:
        return [f"x{j}" for j in range(n_features)]
    return [str(name) for name in names]


def shorten(name: object, longest: int = 24) -> str:
    """Return a name on one line, with its middle left out if it is long."""
    text = " ".join(str(name).split())
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[len(text) - (longest - 1) // 2 :]}"
    # A dollar would begin a formula.
    return text.replace("$", r"\$")


def shorten_all(names: Sequence[object], longest: int = 24) -> list[str]:
    """Return the names, shortened; where that makes two the same, to the part around what differs."""
    short = [shorten(name, longest) for name in names]
    texts = [str(name) for name in names]
    if len(set(short)) == len(set(texts)):
        return short
    begin = _common(texts)
    end = _common([text[begin:][::-1] for text in texts])
    room = max((longest - 2 - max(map(len, texts)) + begin + end) // 2, 0)
    left, right = max(begin - room, 0), max(end - room, 0)
    return [shorten("…" * bool(left) + text[left : len(text) - right] + "…" * bool(right), longest) for text in texts]


def _common(texts: Sequence[str]) -> int:
    """Return how many first characters all texts share: those that the first and the last in order do."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(min(texts), max(texts), strict=False)))
