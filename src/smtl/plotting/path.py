"""How the features enter as C grows: the regularisation path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from smtl.plotting._names import names_of_features, shorten_all
from smtl.plotting._parts import COLOURS, GREY, End, before_last_step, canvas, fitted_step, label_ends, mark_C

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PathDisplay"]


class PathDisplay:
    """Regularisation path: the 2-norm of each feature's weights over the tasks, against C.

    The features that are strongest at the largest C are coloured, with their names beside it.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,)
        Values of C.
    coefs : array-like of shape (n_Cs, n_tasks, n_features)
        Weights at each of them.
    feature_names : sequence of shape (n_features,), default=None
        Their names; None for x0, x1, ...
    C : float, default=None
        The C that was chosen, to be marked.

    Attributes
    ----------
    norms : ndarray of shape (n_Cs, n_features)
        The norms, in ascending order of C.
    strongest_ : ndarray of int
        The features named, the strongest first.
    lines_, labels_ : list of matplotlib Line2D and of Annotation
        Their lines and names.
    others_ : matplotlib LineCollection
        The lines of the other features.
    C_label_ : matplotlib Text or None
        The text at the chosen C.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from smtl.plotting import PathDisplay
    >>> display = PathDisplay(Cs=[1, 10], coefs=[[[0.0, 0.0]], [[3.0, 0.0]]], feature_names=["wind", "rain"]).plot()
    >>> [label.get_text() for label in display.labels_]
    ['wind']
    """

    def __init__(
        self,
        *,
        Cs: npt.ArrayLike,
        coefs: npt.ArrayLike,
        feature_names: Sequence[Any] | None = None,
        C: float | None = None,
    ) -> None:
        values = np.asarray(Cs, dtype=np.float64)
        order = np.argsort(values, kind="stable")
        self.Cs = values[order]
        self.coefs = np.asarray(coefs, dtype=np.float64)[order]
        self.norms = np.linalg.norm(self.coefs, axis=1)
        d = self.norms.shape[1]
        self.feature_names = [f"x{j}" for j in range(d)] if feature_names is None else list(feature_names)
        self.C = C

    @classmethod
    def from_path(
        cls,
        path: Any,
        *,
        feature_names: Sequence[Any] | None = None,
        C: float | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> PathDisplay:
        """Draw a path.

        Parameters
        ----------
        path : SMTLPath
            What `smtl.smtl_path` returns.
        feature_names : sequence of shape (n_features,), default=None
            Names of the features; None for x0, x1, ...
        C : float, default=None
            The C that was chosen, to be marked.
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        **options
            Of `plot`: n_named.

        Returns
        -------
        PathDisplay
            The display.
        """
        return cls(Cs=path.Cs, coefs=path.coefs, feature_names=feature_names, C=C).plot(ax=ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        tasks: Any = None,
        Cs: Any = 20,
        ax: Axes | None = None,
        **options: Any,
    ) -> PathDisplay:
        """Compute the path of a fitted model's metric and penalty, and draw it with the model's C.

        Parameters
        ----------
        estimator : SMTLClassifier or SMTLClassifierCV, or Pipeline that ends with one
            The fitted model.
        X, y, tasks : array-like
            Data, in the form of ``fit``. A pipeline's earlier steps transform X.
        Cs : int, "paper" or array-like, default=20
            Values of C, as of `smtl.smtl_path`.
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        **options
            Of `plot`: n_named.

        Returns
        -------
        PathDisplay
            The display.
        """
        from smtl import smtl_path

        step = fitted_step(estimator, "coef_", "C_", "metric", "penalty", remedy="Give a fitted SMTLClassifier.")
        X = before_last_step(estimator, X)
        # What cross-validation chose stands in metric_ and so on.
        chosen = {name: getattr(step, f"{name}_", getattr(step, name)) for name in ("metric", "penalty", "ridge")}
        path = smtl_path(X, y, tasks=tasks, Cs=Cs, fit_intercept=step.fit_intercept, tol=step.tol, **chosen)
        names = names_of_features(estimator, path.coefs.shape[2])
        return cls.from_path(path, feature_names=names, C=step.C_, ax=ax, **options)

    def plot(self, ax: Axes | None = None, *, n_named: int = 8) -> PathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None for a new figure.
        n_named : int, default=8
            How many features are coloured and named.

        Returns
        -------
        PathDisplay
            The display itself.
        """
        self.ax_ = ax = canvas(ax)
        from matplotlib.collections import LineCollection

        last = self.norms[-1]
        ranked = np.argsort(-last, kind="stable")
        self.strongest_ = np.array([j for j in ranked[:n_named] if last[j] > 0.0], dtype=np.intp)
        others = np.setdiff1d(ranked, self.strongest_)
        self.figure_ = ax.figure
        curves = [np.column_stack([self.Cs, self.norms[:, j]]) for j in others]
        self.others_ = ax.add_collection(LineCollection(curves, colors="0.8", linewidths=0.8, zorder=1.5))
        colours = [COLOURS[k % len(COLOURS)] for k in range(len(self.strongest_))]
        # A second round of the colours is dashed.
        dashes = [("-", "--", ":")[k // len(COLOURS) % 3] for k in range(len(self.strongest_))]
        self.lines_ = [
            ax.plot(self.Cs, self.norms[:, j], color=colour, linestyle=dash, linewidth=1.6)[0]
            for j, colour, dash in zip(self.strongest_, colours, dashes, strict=True)
        ]
        ax.set_xscale("log")
        top = float(self.norms.max(initial=0.0)) or 1.0
        ax.set_ylim(-0.01 * top, 1.1 * top)
        m = self.coefs.shape[1]
        ax.set(xlabel="C", ylabel="absolute weight" if m == 1 else f"2-norm of weights over {m} tasks")
        names = shorten_all([self.feature_names[j] for j in self.strongest_])
        ends = [End(self.Cs[-1], *end) for end in zip(last[self.strongest_], names, colours, strict=True)]
        self.labels_ = label_ends(ax, ends)
        self.C_label_: Any = None
        if self.C is not None:
            self.C_label_ = mark_C(ax, self.C, f"C = {self.C:.3g}", height=0.97, colour=GREY)
        return self
