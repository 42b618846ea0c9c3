"""``smtl demo``: train on ten imbalanced tasks, beside logistic regression."""

from __future__ import annotations

import shlex
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import typer

from smtl.cli._choices import NamedChoices, check_metric_name, check_penalty_name
from smtl.cli._errors import CommandError
from smtl.cli._writable import check_writable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from smtl.datasets import Dataset

__all__ = ["SETTINGS", "demo"]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]

SETTINGS = {"cls": NamedChoices}

_TRAIN = 0.6
_OURS, _PEER = "smtl", "logistic regression"
# The model, the rows that judge it, and the page about it.
_BESIDE = (_MODEL, _ROWS, _PAGE) = (".skops", ".csv", ".html")


@dataclass
class _Result:
    """What one method reached on the held-out rows, task by task, and the seconds that its fit took."""

    f1: Float
    auc: Float
    seconds: float


def demo(
    metric: Annotated[str, typer.Option(callback=check_metric_name, metavar="NAME", help="What to train on.")] = "f1",
    penalty: Annotated[
        str, typer.Option(callback=check_penalty_name, metavar="NAME", help="What ties the tasks together.")
    ] = "l21",
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The picture: .png, .pdf or .svg. The other files are beside it."),
    ] = Path("smtl-demo.png"),
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="For the split of the data.")] = 0,
) -> None:
    """Train on ten imbalanced tasks, beside logistic regression; save the model, and a picture and a page about it.

    The data are scikit-learn's digits: for each digit, is it this one?
    60 % of the rows are for training, the same share of each digit.
    The others judge the model, and are saved too. Nothing is downloaded.

    Example: smtl demo --metric auc --out auc.png
    """
    from smtl.cli._figure import SUFFIXES

    check_writable(out, SUFFIXES)
    for suffix in _BESIDE:
        check_writable(out.with_suffix(suffix))

    from rich.console import Console

    console, status = Console(highlight=False), Console(stderr=True, highlight=False)
    with status.status("Loading scikit-learn"):
        from sklearn.linear_model import LogisticRegression
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.pipeline import Pipeline

        from smtl import SMTLClassifier
        from smtl.cli._figure import draw
        from smtl.cli._progress import showing_progress

    data, train, test, scaler = _split(seed)
    X, Y, X_test, Y_test = scaler.transform(data.X[train]), data.Y[train], scaler.transform(data.X[test]), data.Y[test]
    model = SMTLClassifier(metric=metric, penalty=penalty, verbose=1)
    peer = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    with status.status("Compiling (first run only)"):
        compiling = _warm_up([model, peer], X, Y)
    with showing_progress(status, model.tol), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = _run(model, X, Y, X_test, Y_test)
    for warning in caught:
        print("Warning:", " ".join(str(warning.message).split()), file=sys.stderr)
    with status.status("Logistic regression"):
        theirs = _run(peer, X, Y, X_test, Y_test)

    digits = list(data.label_names or ())
    console.print(
        f"Digits, metric {metric}, penalty {penalty}: {len(X)} training rows, {len(X_test)} held out",
        soft_wrap=True,
    )
    console.print(_table(digits, Y.sum(axis=0), ours, theirs))
    _print_summary(console, model, ours, theirs, compiling)
    try:
        scores = {_OURS: ours.f1, _PEER: theirs.f1}
        headline = f"smtl demo --metric {metric} --penalty {penalty} --seed {seed}"
        draw(out, title=headline, names=digits, scores=scores, history=model.history_, gap=model.gap_)
    except OSError as error:
        raise CommandError(f"cannot write {str(out)!r}: {error.strerror or error}.") from error
    with status.status("Writing the model and the page about it"):
        _keep(Pipeline([("scale", scaler), ("classifier", model)]), data, test, out, seed)
    _print_next(console, out)


def _split(seed: int) -> tuple[Dataset, Rows, Rows, StandardScaler]:
    """Return the digits, with a column a digit; which rows are for training and which not; and the former's scale."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    from smtl.datasets import load_dataset

    data = load_dataset("digits")
    digit = data.Y.argmax(axis=1)
    train, test = train_test_split(np.arange(len(digit)), train_size=_TRAIN, stratify=digit, random_state=seed)
    return data, train, test, StandardScaler().fit(data.X[train])


def _warm_up(models: list[Any], X: Float, Y: npt.NDArray[Any]) -> float:
    """Fit three rows of each task, so that no fit that is timed has to compile; return the seconds it took."""
    from sklearn.base import clone
    from threadpoolctl import threadpool_limits

    rows = np.concatenate([np.flatnonzero(column)[:3] for column in Y.T])
    started = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            few = clone(model)
            few.set_params(**({"verbose": 0} if "verbose" in few.get_params(deep=False) else {}))
            few.fit(X[rows], Y[rows])
    return time.perf_counter() - started


def _run(model: Any, X: Float, Y: Any, X_test: Float, Y_test: Any) -> _Result:
    """Fit a model on one thread, and judge it."""
    from sklearn.metrics import f1_score, roc_auc_score
    from threadpoolctl import threadpool_limits

    # On data this small, threads that wait for one another would be most of what is timed, for either method.
    with threadpool_limits(1):
        started = time.perf_counter()
        model.fit(X, Y)
        seconds = time.perf_counter() - started
    f1 = f1_score(Y_test, model.predict(X_test), average=None, zero_division=0.0)
    auc = roc_auc_score(Y_test, model.decision_function(X_test), average=None)
    return _Result(np.asarray(f1), np.asarray(auc), seconds)


def _table(digits: list[str], positives: Any, ours: _Result, theirs: _Result) -> Table:
    """Return the figures of both methods, the better of each pair in bold."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    headings = ("Digit", "Positives", "F1\nsmtl", "F1\nlogistic", "AUC\nsmtl", "AUC\nlogistic")
    for heading in headings:
        table.add_column(heading, justify="right")
    for i, digit in enumerate(digits):
        table.add_row(digit, str(positives[i]), *_pair(ours.f1[i], theirs.f1[i]), *_pair(ours.auc[i], theirs.auc[i]))
    table.add_section()
    mean = f"{np.mean(positives):.1f}"
    table.add_row("Mean", mean, *_pair(ours.f1.mean(), theirs.f1.mean()), *_pair(ours.auc.mean(), theirs.auc.mean()))
    return table


def _pair(ours: float, theirs: float) -> tuple[str, str]:
    a, b = f"{ours:.3f}", f"{theirs:.3f}"
    return (f"[bold]{a}[/]" if a >= b else a), (f"[bold]{b}[/]" if b >= a else b)


def _print_summary(console: Console, model: Any, ours: _Result, theirs: _Result, compiling: float) -> None:
    a, b = ours.f1.mean(), theirs.f1.mean()
    ahead = "neither" if f"{a:.3f}" == f"{b:.3f}" else _OURS if a > b else _PEER
    percent = 100.0 * model.gap_
    lines = {
        "Ahead on mean F1": f"{ahead} ({_OURS} {a:.3f}, {_PEER} {b:.3f})",
        "Certified gap": f"{model.gap_:.1e}: no weights can be better by more than {percent:.2g} %",
        "Iterations": f"{model.n_iter_}",
        "Objective": f"{model.objective_:.6g}",
        "Bound": f"{model.dual_bound_:.6g}",
        "Fit": f"{_OURS} {ours.seconds:.2f} s, {_PEER} {theirs.seconds:.2f} s, on one thread each",
        "Compiling": f"{compiling:.1f} s before the fits; the first run compiles, later ones load most of it",
    }
    for name, value in lines.items():
        console.print(f"{name + ':':<18}{value}", soft_wrap=True)


def _keep(model: Pipeline, data: Dataset, test: Rows, out: Path, seed: int) -> None:
    """Write the model, the rows that judge it, and the page about it."""
    from smtl.cli._reading import one_line_errors
    from smtl.cli._saving import save, summary_of
    from smtl.datasets import write
    from smtl.model.evaluation import evaluate
    from smtl.model.persistence import read_model
    from smtl.model.report import write_report
    from smtl.model.scores import answers_of, task_scores
    from smtl.model.training import Settings, rows_of, targets_of

    final, rest = model[-1], rows_of(data, test)
    final.set_params(verbose=0)
    scores = task_scores(model, rest.X)
    result = evaluate(targets_of(rest), scores, answers_of(scores, final._kind), draws=0)
    settings = Settings(final.metric, final.penalty, "auto", seed=seed)
    summary = summary_of(model, data, "digits", settings, result, {})
    save(model, data, out.with_suffix(_MODEL), summary)
    with one_line_errors():
        try:
            write(rest, out.with_suffix(_ROWS))
            # As whoever has the files would: what is read back is what is shown.
            saved, metadata = read_model(out.with_suffix(_MODEL))
            title = "Digits that were not trained on"
            write_report(saved, rest, out.with_suffix(_PAGE), metadata=metadata, title=title)
        except OSError as error:
            raise CommandError(f"cannot write beside {str(out)!r}: {error.strerror or error}.") from error


def _print_next(console: Console, out: Path) -> None:
    written = {"Picture": out, "Model": out.with_suffix(_MODEL), "Rows not trained on": out.with_suffix(_ROWS)}
    for name, path in (written | {"Page about it": out.with_suffix(_PAGE)}).items():
        console.print(f"{name + ':':<21}{path}", markup=False, soft_wrap=True)
    model, rows = (shlex.quote(str(out.with_suffix(suffix))) for suffix in (_MODEL, _ROWS))
    console.print("\nOpen the page in a browser. Then:\n")
    for command in (
        f"smtl evaluate {model} {rows}",
        f"smtl inspect {model}",
        "smtl fit DATA -o model.skops        # your own data: a table with columns named label:...",
    ):
        console.print(f"    {command}", markup=False, soft_wrap=True)
