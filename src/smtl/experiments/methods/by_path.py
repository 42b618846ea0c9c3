"""Any estimator as a method: by its import path, or a baseline by its name, with its defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import is_classifier
from sklearn.utils import get_tags

from smtl.experiments.methods.base import Method, Search

__all__ = ["WithDefaults"]


class WithDefaults(Method):
    """An estimator with its defaults; a classifier for one label at a time is fitted to each.

    Parameters
    ----------
    path : str
        Its name on the command line.
    title : str
        Its name in tables.
    factory : callable
        Returns the estimator.
    """

    title = about = ""  # of each by itself

    def __init__(self, path: str, title: str, factory: Callable[[], Any]) -> None:
        self.name = path  # type: ignore[misc]
        self.title = title
        self.about = f"{path} with its defaults"
        self.factory = factory

    def make(self, search: Search) -> Any:  # noqa: D102
        from smtl.baselines import BinaryRelevance

        model = self.factory()
        if not is_classifier(model):
            raise TypeError(f"{self.name} must make a classifier, got {type(model).__name__} instead.")
        if "random_state" in model.get_params():
            model.set_params(random_state=search.seed)
        if not get_tags(model).classifier_tags.multi_label:
            model = BinaryRelevance(model)
        return model
