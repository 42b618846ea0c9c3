"""What a method of a comparison is, and how its inner search is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from smtl.registry import Named

__all__ = ["GAP", "PASSES", "TOL", "Method", "Search"]

# The certified gap of the methods that have one, and the most passes of a final fit: what is finer is lost in the
# spread over splits. And the tolerance of scikit-learn's logistic regression, which means something else.
GAP, PASSES, TOL = 1e-2, 1000, 1e-3


@dataclass(frozen=True)
class Search:
    """How the inner search is done.

    Attributes
    ----------
    cv : int
        Folds; methods of many models, which have no path to go along, have at most 3.
    n_values : int
        Values of C, or of what the method has instead; methods of many models try at most 3.
    seed : int
        For all that is random in the method.

    Examples
    --------
    >>> Search(cv=5, n_values=20).seed
    0
    """

    cv: int = 5
    n_values: int = 20
    seed: int = 0


class Method(Named, ABC):
    """A method of a comparison. A subclass that sets ``name`` is known to `smtl.experiments.compare` and to commands.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    title : str
        What it is called in tables.
    family : str
        Of which methods it is one: "SMTL", "MTL-CLS", "MTL-REG", "other".
    about : str
        Base learner and grid, in words.
    penalty, target : str
        Where it has them, the penalty and the metric that it is trained on.
    order : int
        Its place in tables: the least comes first; by name where it is the same.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> class Neighbours(Method):
    ...     name, title, about = "knn", "Neighbours", "the 5 nearest"
    ...     def make(self, search):
    ...         return KNeighborsClassifier()
    >>> from smtl.experiments import get_method
    >>> get_method("knn").make(Search())
    KNeighborsClassifier()
    >>> del Method.known["knn"]
    """

    known: ClassVar[dict[str, type[Any]]] = {}
    family: str = "other"
    penalty: str = ""
    target: str = ""
    order: ClassVar[int] = 1000

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is called in tables."""

    @property
    @abstractmethod
    def about(self) -> str:
        """Base learner and grid, in words."""

    @abstractmethod
    def make(self, search: Search) -> Any:
        """Return the estimator, not fitted.

        Parameters
        ----------
        search : Search
            How its inner search is done.

        Returns
        -------
        estimator
            A classifier of scikit-learn's manner, for several labels.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
