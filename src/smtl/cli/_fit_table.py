"""What ``smtl fit`` prints of a model: a line for each task, and the figures of the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtl.cli._model_options import figure, plain_table

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["named_results", "print_tasks", "rounded"]


def named_results(results: dict[str, dict[str, Any]], tasks: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what is kept of the rivals' scores.

    Parameters
    ----------
    results : dict
        What `smtl.model.evaluation.evaluate` says, by name.
    tasks : list of dict
        With the names of the tasks.

    Returns
    -------
    dict
        Of each, means, and F1 and AUC of each task.

    Examples
    --------
    >>> task = {"rows": 2, "f1": 0.5, "auc": 1.0}
    >>> result = {"tasks": [task], "macro": {"f1": 0.5, "auc": 1.0}, "micro": {"f1": 0.5}}
    >>> named_results({"forest": result}, [{"name": "calm"}])["forest"]["tasks"]
    [{'name': 'calm', 'f1': 0.5, 'auc': 1.0}]
    """
    return {
        rival: {
            "macro": result["macro"],
            "micro": result["micro"],
            "tasks": [
                {"name": task["name"], "f1": found["f1"], "auc": found["auc"]}
                for task, found in zip(tasks, result["tasks"], strict=True)
            ],
        }
        for rival, result in results.items()
    }


def print_tasks(console: Console, summary: dict[str, Any]) -> dict[str, str]:
    """Print the table of the tasks, and return what is to be told under it.

    Parameters
    ----------
    console : Console
        Where to print.
    summary : dict
        See `smtl.cli._saving.summary_of`.

    Returns
    -------
    dict of str to str
        Lines by their names.
    """
    return (
        _print_ensemble(console, summary)
        if summary["training"]["model"] == "ensemble"
        else _print_linear(console, summary)
    )


def _print_linear(console: Console, summary: dict[str, Any]) -> dict[str, str]:
    from rich.markup import escape

    training, tested = summary["training"], "macro" in summary["scores"]
    table = plain_table()
    table.add_column("Task", overflow="fold")
    for heading in ("Rows", "Positives", *(("F1", "AUC") if tested else ()), "Threshold", "Features"):
        table.add_column(heading, justify="right", no_wrap=True)
    for task in summary["scores"]["tasks"]:
        table.add_row(
            escape(task["name"]),
            f"{task['rows']:,}",
            f"{task['positives']:,}",
            *((figure(task["f1"]), figure(task["auc"])) if tested else ()),
            f"{task['threshold']:.3g}",
            f"{task['features']:,}",
        )
    console.print(table)
    how = {"cv": f", the best of {training['n_values']} in {training['cv']}-fold cross-validation", "auto": ", auto"}
    lines = {
        "Trained on": f"{training['rows']:,} rows, metric {training['metric']}, penalty {training['penalty']}",
        "C": f"{training['C_used']:.4g}{how.get(str(training['C']), '')}",
        "Features used": f"{training['features_used']:,} of {_n_features(summary):,}",
        "Certified gap": f"{training['gap']:.1e}: no weights can be better by more than {100 * training['gap']:.2g} %",
    }
    if tested:
        macro, micro = summary["scores"]["macro"], summary["scores"]["micro"]
        lines["Tested on"] = f"{training['test_rows']:,} other rows: F1 and AUC above are of these"
        lines["Mean F1"] = f"{figure(macro['f1'])} (of all answers together {figure(micro['f1'])})"
        lines["Mean AUC"] = figure(macro["auc"])
    return lines


def _n_features(summary: dict[str, Any]) -> int:
    """Return how many features the classifier gets: of a table, those that its columns become."""
    if summary.get("table"):
        return sum(int(entry["features"]) for entry in summary["table"])
    return int(summary["data"]["features"])


def _print_ensemble(console: Console, summary: dict[str, Any]) -> dict[str, str]:
    from rich.markup import escape

    training, scores = summary["training"], summary["scores"]
    # Of several classes one is the answer, and there is nothing to cut.
    cut = [] if (summary.get("labels") or {}).get("kind") == "class" else ["Cut"]
    rivals = scores.get("rivals", {})
    methods = {"smtl": scores, **rivals} if "macro" in scores else {}
    table = plain_table()
    table.add_column("Task", overflow="fold")
    headings = [f"{measure}\n{name}" if rivals else measure for measure in ("F1", "AUC") for name in methods]
    for heading in ("Positives", *headings, *cut):
        table.add_column(heading, justify="right", no_wrap=True)
    for i, task in enumerate(scores["tasks"]):
        cells = [cell for key in ("f1", "auc") for cell in rounded([m["tasks"][i][key] for m in methods.values()])]
        table.add_row(escape(task["name"]), f"{task['positives']:,}", *cells, *(f"{task['cut']:.2f}" for _ in cut))
    if methods:
        table.add_section()
        means = [cell for key in ("f1", "auc") for cell in rounded([m["macro"][key] for m in methods.values()])]
        table.add_row("Mean", "", *means, *("" for _ in cut))
    console.print(table)
    used = ", ".join(f"{one['name']} {one['weight']:.2f}" for one in training["learners"] if one["weight"] > 0)
    correction = training["correction"]
    lines = {
        "Trained on": f"{training['rows']:,} rows, preset {training['preset']}, {training['seconds']:.1f} s",
        "Learners": f"{used} (shares of the answer)" if used else "none is better than the same answer for all rows",
        "Correction": "none: it would not have gained more than its error"
        if correction is None
        else f"{correction['penalty']}, log loss less by {correction['gain']:.4f} +- {correction['error']:.4f}",
        **({"Cut": "the probability from which on the answer is yes"} if cut else {}),
    }
    if not cut:
        lines["Answer"] = "the class of the highest probability"
    if methods:
        lines["Tested on"] = f"{training['test_rows']:,} other rows: F1 and AUC above are of these" + (
            "; logistic regression and the forest have tuned cuts, too" if rivals else ""
        )
        lines["Micro F1"] = ", ".join(f"{name} {figure(m['micro']['f1'])}" for name, m in methods.items())
    return lines


def rounded(values: list[float | None]) -> list[str]:
    """Return scores of several methods for a table, the best in bold.

    Examples
    --------
    >>> rounded([0.5, None, 0.25]), rounded([0.5])
    (['[bold]0.500[/]', '-', '0.250'], ['0.500'])
    """
    texts = [figure(value) for value in values]
    known = [text for text in texts if text != "-"]
    return [f"[bold]{text}[/]" if len(texts) > 1 and known and text == max(known) else text for text in texts]
