"""What a program must know of a model that it is given: names, classes, thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from smtl.model.scores import classifier_of, encoder_of, takes_frames

__all__ = ["Described", "described"]

Float: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Described:
    """Names, classes and thresholds of a model.

    Attributes
    ----------
    kind : {"binary", "multiclass", "multilabel", "tasks"}
        What the model was asked.
    features, tasks : list of str
        Names.
    named : bool
        Whether the features had names in the training data.
    classes : ndarray of numbers or text
        What the model answers: one of these for ``multiclass``, otherwise the first for no and the last for yes.
    thresholds : ndarray of shape (n_tasks,)
        The cuts. They are already taken off the scores.
    settings : dict
        How the model was trained: plain JSON.
    """

    kind: str
    features: list[str]
    tasks: list[str]
    named: bool
    classes: npt.NDArray[Any]
    thresholds: Float
    settings: dict[str, Any]

    @property
    def takes_missing(self) -> bool:
        """Whether a feature may be missing."""
        return True

    @property
    def outputs(self) -> tuple[str, ...]:
        """What its ONNX graph returns."""
        return "scores", "labels", "probabilities"

    def one_hot(self) -> dict[str, dict[str, str]]:
        """Return, for each nominal column of the training data, the feature that stands for each value.

        They are known by their names, ``column=value``.
        """
        columns: dict[str, dict[str, str]] = {}
        for feature in self.features if self.named else ():
            column, sign, value = feature.partition("=")
            if sign:
                columns.setdefault(column, {})[value] = feature
        return columns

    def about(self) -> dict[str, Any]:
        """Return what is to be known about the model, plain JSON: the same in every format."""
        return {
            "smtl": version("smtl"),
            "kind": self.kind,
            **self.settings,
            "features": self.features,
            "one_hot": self.one_hot(),
            "tasks": self.tasks,
            "classes": self.classes.tolist(),
            "thresholds": self.thresholds.tolist(),
        }


def described(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    task_names: Sequence[str] | None = None,
    settings: dict[str, Any] | None = None,
) -> Described:
    """Return what is to be known of a model.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV or Pipeline
        A fitted model.
    feature_names, task_names : sequence of str, optional
        Names; by default as in `save_model`. Of a model of tables, the features are what its columns become.
    settings : dict, optional
        How it was trained.

    Returns
    -------
    Described
        Names, classes and thresholds.

    Raises
    ------
    ValueError
        If there are too many or too few names, or classes are neither numbers nor text.

    Examples
    --------
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> found = described(model, feature_names=["key=major"])
    >>> found.kind, found.one_hot()
    ('binary', {'key': {'major': 'key=major'}})
    """
    final, d = classifier_of(model), int(model.n_features_in_)
    if getattr(final, "row_rule_", None) is not None:
        raise ValueError(
            f"threshold must be a cut for each task, got {final.row_rule_!r} instead: it looks at all answers of a "
            "row, which no exported cut can do. Train with threshold='auto', and count the answers where they are used."
        )
    named = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    if encoder_of(model) is not None or takes_frames(model):
        d = int(model.steps[1][1].n_features_in_)
        named = _made_by(model.steps[0][1])
    features = [f"x{j}" for j in range(d)] if named is None else [str(name) for name in named]
    tasks = [str(name) for name in (final.task_names_ if task_names is None else task_names)]
    for what, names, n in (("feature_names", features, d), ("task_names", tasks, len(final.thresholds_))):
        if len(names) != n:
            raise ValueError(f"{what} must have {n} names, got {len(names)} instead.")
    return Described(
        kind=final._kind,
        features=features,
        tasks=tasks,
        named=named is not None,
        classes=np.array([0, 1]) if final._kind == "multilabel" else _plain_classes(final.classes_),
        thresholds=np.asarray(final.thresholds_, dtype=np.float64),
        settings=settings or {},
    )


def _made_by(columns: Any) -> Any:
    """Return the names of the features that columns become, None where they have none."""
    try:
        return columns.get_feature_names_out()
    except (AttributeError, ValueError):  # of a transformer inside, such as a function
        return None


def _plain_classes(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if all(isinstance(name, str) for name in classes.tolist()):
        return classes.astype(str)
    if classes.dtype.kind not in "biuf":
        raise ValueError(f"classes must be numbers or text, got {classes.tolist()!r} instead.")
    return classes
