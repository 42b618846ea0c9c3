"""Models as files, with skops: what is loaded is data, never code."""

from __future__ import annotations

import copy
import inspect
import platform
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from smtl.datasets.errors import shown
from smtl.estimators.ranker import SMTLRanker
from smtl.extras import of_extra
from smtl.model.archive import pack, read_archive, unpack, write_whole
from smtl.model.contents import check_contents
from smtl.model.errors import ModelError
from smtl.model.known import check_metadata
from smtl.model.schema import Refused, trusted_types
from smtl.model.scores import classifier_of, columns_in_order, encoder_of, task_scores

__all__ = ["load_model", "model_metadata", "read_model", "save_model"]

Source: TypeAlias = str | PathLike[str]

# Files of the same format are read by all versions that know it.
FORMAT = 1
_PROBE_ROWS = 3
_TAKE_NUMBERS = (SimpleImputer, StandardScaler, MaxAbsScaler)
_LIBRARIES = ("smtl", "scikit-learn", "numpy", "skops")
# Parameters that matter to a fit alone: once it is done, others can take their place.
_OF_THE_FIT = {"random_state": "0", "cv": "5"}


def save_model(
    model: Any,
    path: Source,
    *,
    feature_names: Sequence[str] | None = None,
    task_names: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Save a fitted model as one file that holds data only.

    The file takes its place only once it is whole: a kill while it is written leaves what was there.

    Parameters
    ----------
    model : SMTLEnsemble, SMTLClassifier, SMTLClassifierCV, SMTLRanker or Pipeline
        A fitted model. Of an ensemble, all learners must be smtl's own. A pipeline may have smtl's `TableEncoder`,
        scikit-learn's usual transformers and skrub's ``TableVectorizer`` before it.
    path : path-like
        The file; by custom its name ends in ``.skops``.
    feature_names : sequence of str, optional
        Names of the features. By default those that the model was fitted with, or x0, x1, ...
    task_names : sequence of str, optional
        Names of the tasks. By default ``task_names_``.
    metadata : mapping, optional
        More to know about the model, plain JSON: how it was trained, what it scored.

    Raises
    ------
    ModelError
        If the model holds anything that `load_model` would refuse: a metric of your own, for example.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from smtl import SMTLClassifier
    >>> X, Y = make_multilabel_classification(100, random_state=0)
    >>> model = make_pipeline(StandardScaler(), SMTLClassifier()).fit(X, Y)
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "model.skops"), metadata={"author": "Ada"})
    ...     same = load_model(Path(folder, "model.skops"))
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    with of_extra("models", "model files"):
        import skops.io

    path = Path(path)
    final = _final(model)
    d = model.n_features_in_
    given = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    features = [f"x{j}" for j in range(d)] if given is None else [str(name) for name in given]
    kind, own_names = _questions(final)
    tasks = [str(name) for name in (own_names if task_names is None else task_names)]
    for what, names, n in (("feature_names", features, d), ("task_names", tasks, len(own_names))):
        if len(names) != n:
            raise ValueError(f"{what} must have {n} names, got {len(names)} instead.")
    known = {
        "format": FORMAT,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "features": features,
        "named_features": given is not None,
        "tasks": tasks,
        "kind": kind,
        **({} if (encoder := encoder_of(model)) is None else {"table": encoder.columns_}),
        **(metadata or {}),
        "probe": _probe(model, d).tolist(),
    }
    try:
        stored = skops.io.dumps(_without_start(model))
    except (TypeError, ValueError) as error:
        raise ModelError(f"cannot be saved: {_why_not_saved(model, error)}", path) from error
    try:
        content = pack(stored, known)
    except (TypeError, ValueError) as error:
        raise ModelError(f"cannot be written: {error}", path) from error
    try:
        unpack(content, path)  # a file that could not be loaded is not written
        check_metadata(known)
        _check_whole(_built(content), known)
    except Exception as error:
        reason = error.__cause__ if isinstance(error, ModelError) else error
        raise ModelError(f"cannot be saved: {_why_not_saved(model, reason)}", path) from error
    write_whole(content, path)


def _without_start(model: Any) -> Any:
    """Return the model without what only another fit would use; the user's own keeps it."""
    given = _final(model)
    final = given.plain() if hasattr(given, "plain") else given
    if final is given and getattr(final, "_start", None) is None:
        return model
    final = copy.copy(final)
    final._start = None
    if not isinstance(model, Pipeline):
        return final
    model = copy.copy(model)
    model.steps = [*model.steps[:-1], (model.steps[-1][0], final)]
    return model


def _why_not_saved(model: Any, reason: object) -> str:
    """Return which parameter a file cannot hold, and what to do; or the reason that the file was refused for."""
    final = _final(model)
    for name, value in final.get_params(deep=False).items():
        if _can_be_kept(value):
            continue
        given = f"{name}={shown(value, 80)} of type {type(value).__name__}"
        what = f"{type(final).__name__} has {given}, and a model's file holds plain data only"
        if name in _OF_THE_FIT:
            call = f"set_params({name}={_OF_THE_FIT[name]})"
            return f"{what}; call {call} on it before you save, which changes nothing of what was fitted."
        if name == "learners":
            return f"{what}; an ensemble can be saved whose learners are all named, such as ['forest', 'linear']."
        return f"{what}; train it with a number, a name, or one of smtl's own metrics and penalties."
    return (
        f"{reason}; before the classifier, a pipeline may have smtl's TableEncoder, the usual transformers of "
        "scikit-learn's (no functions of your own) and skrub's TableVectorizer, with parameters that are plain values."
    )


def _can_be_kept(value: Any) -> bool:
    import skops.io

    try:
        unpack(pack(skops.io.dumps(value), {}), Path())
    except (ModelError, TypeError, ValueError):
        return False
    return True


def load_model(path: Source) -> Any:
    """Load a model that `save_model` or ``smtl fit`` has written.

    Before anything is constructed, the file's digest is compared, and every type in it with a list of what a model
    needs. A file that holds anything else is refused, and nothing of it is run.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    SMTLEnsemble, SMTLClassifier, SMTLClassifierCV, SMTLRanker or Pipeline
        The model.

    Raises
    ------
    ModelError
        With the reason.

    Examples
    --------
    >>> import pickle
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.pickle")
    ...     _ = path.write_bytes(pickle.dumps([1, 2]))
    ...     load_model(path)
    Traceback (most recent call last):
        ...
    smtl.model.errors.ModelError: ...model.pickle: must be a model that smtl fit or save_model has written, got a pickle
    instead; it was not loaded.
    """
    return read_model(path)[0]


def model_metadata(path: Source) -> dict[str, Any]:
    """Return what is known about a model, without constructing it.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    dict
        Plain JSON: ``versions``, ``created``, ``features``, ``tasks``, and what ``metadata`` of `save_model` had; of
        models from ``smtl fit``, ``data``, ``training`` and ``scores``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from smtl import SMTLClassifier
    >>> model = SMTLClassifier().fit(*make_multilabel_classification(100, n_features=4, random_state=0))
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "model.skops"), task_names=["a", "b", "c", "d", "e"])
    ...     model_metadata(Path(folder, "model.skops"))["features"]
    ['x0', 'x1', 'x2', 'x3']
    """
    path = Path(path)
    return _checked(unpack(read_archive(path), path), path)


def read_model(path: Source) -> tuple[Any, dict[str, Any]]:
    """Return a model, and what is known about it."""
    path = Path(path)
    content = read_archive(path)
    metadata = _checked(unpack(content, path), path)

    try:
        model = _built(content)
        _check_whole(model, metadata)
        final = _final(model)
        d, m = len(metadata["features"]), len(metadata["tasks"])
        kind, names = _questions(final)
        n = len(final.coef_) if np.ndim(getattr(final, "coef_", 0.0)) == 2 else len(names)
        if n != m or model.n_features_in_ != d or kind != metadata["kind"]:
            raise ValueError("its weights do not fit its names")
        same = np.allclose(_probe(model, d), np.array(metadata["probe"]), rtol=1e-6, atol=1e-9)
    except Refused as error:
        raise ModelError(f"must hold a model of smtl and nothing else; {error}. It was not loaded.", path) from error
    except Exception as error:  # whatever a file that is made up, or of another version, leads to
        raise ModelError(_why_not(metadata, f"{type(error).__name__}: {error}"), path) from error
    if not same:
        raise ModelError(_why_not(metadata, "its scores are not those it had when it was saved"), path)
    return model, metadata


def _checked(metadata: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return metadata that have what every model's have."""
    form = metadata.get("format")
    if form != FORMAT:
        raise ModelError(
            f"must be of format {FORMAT}, got {form!r} instead, written by smtl {_version(metadata, 'smtl')}; this is "
            f"smtl {version('smtl')}. Upgrade smtl, or train the model again.",
            path,
        )
    try:
        check_metadata(metadata)
    except Refused as error:
        raise ModelError(f"must be a model as smtl writes it; {error}. It was not loaded.", path) from error
    return metadata


def _built(content: bytes) -> Any:
    """Return what a file holds, whose types are all known to be harmless."""
    with of_extra("models", "model files"):
        import skops.io
    from sklearn.exceptions import InconsistentVersionWarning

    with warnings.catch_warnings():
        # Another version of scikit-learn: whether that matters, the probe says.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = skops.io.loads(content, trusted=[*trusted_types(), "numpy.dtype"])
    final = model.steps[-1][1] if isinstance(model, Pipeline) and "steps" in vars(model) else model
    if isinstance(final, ClassifierMixin | SMTLRanker):
        for name, parameter in inspect.signature(type(final)).parameters.items():
            if name not in vars(final):  # the file is older than the parameter
                setattr(final, name, parameter.default)
    return model


def _check_whole(model: Any, metadata: dict[str, Any]) -> None:
    """Refuse what is no model, and parts that contradict each other."""
    check_contents(model)
    final = _final(model)
    if isinstance(final, SMTLRanker):
        return
    if not hasattr(final, "_kind") or not hasattr(final, "thresholds_"):
        raise Refused("its last step is no fitted classifier of smtl's")
    m = len(final.thresholds_)
    n_classes, own = len(final.classes_), len(final.task_names_)
    wanted = {"binary": (1, 2), "multiclass": (m, m), "multilabel": (m, m), "tasks": (m, 2)}[final._kind]
    if own != m or (m, n_classes) != wanted:
        raise Refused(f"its {m} thresholds, {own} tasks and {n_classes} classes do not go together")
    if len(set(map(str, metadata["tasks"]))) < m:
        raise Refused("two of its tasks have one name")


def _why_not(metadata: dict[str, Any], reason: str) -> str:
    then = ", ".join(f"{name} {_version(metadata, name)}" for name in ("smtl", "scikit-learn"))
    now = ", ".join(f"{name} {version(name)}" for name in ("smtl", "scikit-learn"))
    return (
        f"cannot be used: {reason}. It was written with {then}; this is {now}. Use those versions, or train it again."
    )


def _version(metadata: dict[str, Any], name: str) -> str:
    versions = metadata.get("versions")
    return str(versions.get(name, "(unknown)") if isinstance(versions, dict) else "(unknown)")[:40]


def _probe(model: Any, d: int) -> npt.NDArray[np.float64]:
    """Return the scores of a few made-up rows: what shows whether a loaded model still is what it was."""
    encoder, final = encoder_of(model), _final(model)
    if encoder is not None:
        return _scores(model, encoder.made_up(_PROBE_ROWS))
    if isinstance(model, Pipeline) and not all(isinstance(step, _TAKE_NUMBERS) for _, step in model.steps[:-1]):
        # What comes before takes columns of a data frame, which cannot be made up.
        model, d = final, final.n_features_in_
    rows = np.arange(_PROBE_ROWS * d, dtype=np.float64).reshape(_PROBE_ROWS, d)
    return _scores(model, np.sin(rows + 1.0))


def _scores(model: Any, X: Any) -> npt.NDArray[np.float64]:
    """Return the scores of rows, a column a task; one column for a ranker."""
    if not isinstance(_final(model), SMTLRanker):
        return task_scores(model, X)
    with columns_in_order():
        return np.asarray(model.predict(X), dtype=np.float64)[:, None]


def _final(model: Any) -> Any:
    """Return the fitted classifier or ranker that a model is, or ends in."""
    final = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if isinstance(final, SMTLRanker):
        check_is_fitted(final)
        return final
    return classifier_of(model)


def _questions(final: Any) -> tuple[str, Sequence[Any]]:
    """Return the kind of questions that a model answers, and what they are called."""
    return ("ranking", ["score"]) if isinstance(final, SMTLRanker) else (final._kind, final.task_names_)
