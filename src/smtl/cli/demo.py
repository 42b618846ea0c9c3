"""``smtl demo``: an ensemble on scikit-learn's digits, beside what one would use instead."""

from __future__ import annotations

import shlex
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import typer

from smtl.cli._errors import CommandError, reason
from smtl.cli._writable import check_writable
from smtl.terminal import clean_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from smtl.datasets import Dataset

__all__ = ["demo"]

Float: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]

_TRAIN = 0.6
_OURS = "smtl"
_SET = "digits"
_PRESETS = ("fast", "balanced", "best")
# The model, the rows that judge it, and the page about it.
_BESIDE = (_MODEL, _ROWS, _PAGE) = (".skops", ".csv", ".html")


@dataclass
class _Result:
    """What one method reached on the held-out rows, digit by digit, and the seconds that its fit took."""

    f1: Float
    auc: Float
    seconds: float


def demo(
    preset: Annotated[str, typer.Option(metavar="|".join(_PRESETS), help="How much the ensemble tries.")] = "balanced",
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The picture: .png, .pdf or .svg. The other files are beside it."),
    ] = Path("smtl-demo.png"),
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="NUMBER", help="For the split of the data.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Threads.")] = 2,
) -> None:
    """Train on scikit-learn's digits, beside three others; save the model, and a picture and a page about it.

    The others are logistic regression, a random forest and gradient boosting, as scikit-learn has them.
    60 % of the rows are for training. The rest judge all four: the answer is the most probable digit.
    Nothing is downloaded. It takes under a minute.

    Example: smtl demo --preset fast --out fast.png
    """
    from smtl.cli._figure import SUFFIXES

    if preset not in _PRESETS:
        raise typer.BadParameter(f"--preset must be one of {', '.join(_PRESETS)}, got {preset!r} instead.")
    check_writable(out, SUFFIXES)
    for suffix in _BESIDE:
        check_writable(out.with_suffix(suffix))
    _check_beside(out)

    console, status = clean_console(), clean_console(stderr=True)
    with status.status("Loading scikit-learn"):
        from smtl.cli._figure import draw

        data, train, test = _split(seed)
        models = _models(preset, seed, jobs, verbose=int(status.is_terminal))
    results = {_OURS: _run(models[_OURS], data, train, test)}
    for name, model in list(models.items())[1:]:
        with status.status(name[:1].upper() + name[1:]):
            results[name] = _run(model, data, train, test)
    digits = list(data.label_names or ())
    console.print(f"Digits, seed {seed}: {len(train)} training rows, {len(test)} held out", soft_wrap=True)
    console.print(_table(digits, results))
    _print_summary(console, models[_OURS][-1], results)
    try:
        draw(out, title=f"smtl demo --preset {preset} --seed {seed}", names=digits, scores=_f1(results))
    except OSError as error:
        raise CommandError(f"cannot write {str(out)!r}: {reason(error)}.") from error
    with status.status("Writing the model and the page about it"):
        _keep(models[_OURS], data, test, out, seed)
    _print_next(console, out)


def _check_beside(out: Path) -> None:
    """Raise CommandError where a file would be replaced that no run of this command has left, nor the user has named.

    The model is the first that is written. It stands for the others.
    """
    from smtl.model import model_metadata

    there = [path for path in map(out.with_suffix, _BESIDE) if path.exists()]
    if not there:
        return
    with suppress(OSError, ValueError):
        found = model_metadata(out.with_suffix(_MODEL))
        data, training = found.get("data") or {}, found.get("training") or {}
        if data.get("name") == _SET and training.get("model") == "ensemble":
            return
    raise CommandError(f"{str(there[0])!r} is there, and not from a run of smtl demo; choose another with --out.")


def _f1(results: dict[str, _Result]) -> dict[str, Float]:
    return {name: result.f1 for name, result in results.items()}


def _split(seed: int) -> tuple[Dataset, Rows, Rows]:
    """Return the digits, and which rows are for training and which not."""
    from sklearn.model_selection import train_test_split

    from smtl.datasets import load_dataset

    data = load_dataset(_SET)
    digit = data.Y.argmax(axis=1)
    train, test = train_test_split(np.arange(len(digit)), train_size=_TRAIN, stratify=digit, random_state=seed)
    return data, train, test


def _models(preset: str, seed: int, jobs: int, *, verbose: int) -> dict[str, Any]:
    """Return the methods, ours first; the others with scikit-learn's settings."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import StandardScaler

    from smtl import SMTLEnsemble

    ensemble = SMTLEnsemble(preset=preset, n_jobs=jobs, random_state=seed, verbose=verbose)
    return {
        _OURS: Pipeline([("classifier", ensemble)]),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "random forest": RandomForestClassifier(n_jobs=jobs, random_state=seed),
        "gradient boosting": HistGradientBoostingClassifier(random_state=seed),
    }


def _run(model: Any, data: Dataset, train: Rows, test: Rows) -> _Result:
    """Fit a model, and judge it by its answers and its ranking of the other rows."""
    from sklearn.metrics import f1_score, roc_auc_score
    from threadpoolctl import threadpool_limits

    digit = data.Y.argmax(axis=1)
    # On data this small, threads that wait for one another would be most of what is timed, for any method.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.perf_counter()
        model.fit(data.X[train], digit[train])
        seconds = time.perf_counter() - started
        f1 = f1_score(digit[test], model.predict(data.X[test]), average=None, zero_division=0.0)
        auc = roc_auc_score(data.Y[test], model.predict_proba(data.X[test]), average=None)
    for warning in caught:
        if "smtl" in type(warning.message).__module__:
            print("Warning:", " ".join(str(warning.message).split()), file=sys.stderr)
    return _Result(np.asarray(f1), np.asarray(auc), seconds)


def _table(digits: list[str], results: dict[str, _Result]) -> Table:
    """Return the figures of all methods, the best of each digit in bold."""
    from rich import box
    from rich.table import Table

    from smtl.cli._fit_table import rounded

    table = Table(
        box=box.SIMPLE_HEAD,
        caption="Seconds of one fit. The first on a machine also compiles.",
        caption_justify="left",
    )
    table.add_column("Digit", justify="right")
    for name in results:
        table.add_column(f"F1\n{name.replace(' ', chr(10), 1)}", justify="right")
    for i, digit in enumerate(digits):
        table.add_row(digit, *rounded([float(result.f1[i]) for result in results.values()]))
    table.add_section()
    table.add_row("Mean F1", *rounded([float(result.f1.mean()) for result in results.values()]))
    table.add_row("Mean AUC", *(f"{result.auc.mean():.4f}" for result in results.values()))
    table.add_row("Seconds", *(f"{result.seconds:.1f}" for result in results.values()))
    return table


def _print_summary(console: Console, ensemble: Any, results: dict[str, _Result]) -> None:
    means = {name: f"{result.f1.mean():.3f}" for name, result in results.items()}
    first = [name for name, mean in means.items() if mean == max(means.values())]
    used = ", ".join(f"{name} {weight:.2f}" for name, weight in ensemble.weights_.items() if weight > 0)
    lines = {
        "Ahead on mean F1": f"{' and '.join(first)} ({', '.join(f'{name} {mean}' for name, mean in means.items())})",
        "Learners": f"{used} (shares of the answer)",
    }
    for name, value in lines.items():
        console.print(f"{name + ':':<18}{value}", soft_wrap=True)


def _keep(model: Any, data: Dataset, test: Rows, out: Path, seed: int) -> None:
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
    result = evaluate(targets_of(rest), scores, answers_of(scores, final), draws=0)
    settings = Settings(seed=seed, jobs=final.n_jobs, model="ensemble", preset=final.preset)
    summary = summary_of(model, data, _SET, settings, result, {})
    save(model, data, out.with_suffix(_MODEL), summary)
    with one_line_errors():
        try:
            write(rest, out.with_suffix(_ROWS))
            # As whoever has the files would: what is read back is what is shown.
            saved, metadata = read_model(out.with_suffix(_MODEL))
            title = "Digits that were not trained on"
            write_report(saved, rest, out.with_suffix(_PAGE), metadata=metadata, title=title)
        except OSError as error:
            raise CommandError(f"cannot write beside {str(out)!r}: {reason(error)}.") from error


def _print_next(console: Console, out: Path) -> None:
    written = {"Picture": out, "Model": out.with_suffix(_MODEL), "Rows not trained on": out.with_suffix(_ROWS)}
    for name, path in (written | {"Page about it": out.with_suffix(_PAGE)}).items():
        console.print(f"{name + ':':<21}{path}", markup=False, soft_wrap=True)
    model, rows = (shlex.quote(str(out.with_suffix(suffix))) for suffix in (_MODEL, _ROWS))
    console.print("\nOpen the page in a browser. Then:\n")
    for command in (
        f"smtl evaluate {model} {rows}",
        f"smtl inspect {model}",
        "smtl fit TABLE.csv --labels A,B    # a table of yours, and the columns to predict",
    ):
        console.print(f"    {command}", markup=False, soft_wrap=True)
