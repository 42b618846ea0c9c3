from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from smtl.experiments.published import PAPER_MEASURES, best_smtl
from smtl.experiments.results import Results
from smtl.experiments.summary import count, listed, summary
from tests.unit.experiments.made_rows import PAPER_SETS, made_rows

SOME = ["smtl-auc-l21", "smtl-f1-l21", "mtl-cls-l21", "mtl-reg-l21", "br", "lp"]


def told(rows: list[dict[str, Any]]) -> dict[str, str]:
    parts = summary(Results.of(rows))
    for heading, text in parts:
        for sentence in (heading, text):
            assert sentence == sentence.strip() != ""
            assert not re.search(r"nan|None|  |\bone \w+s\b| \.|\.\.|\(\)|[a-z] s\b", sentence), sentence
        assert text[0].isupper() or not text[0].isalpha()
        assert text[-1] in ".)"
    return dict(parts)


def mean_of(rows: list[dict[str, Any]], dataset: str, method: str, measure: str) -> float:
    return float(
        np.mean([r[measure] for r in rows if (r["dataset"], r["method"]) == (dataset, method) and measure in r])
    )


@pytest.mark.parametrize("seed", range(3))
def test_who_is_first_is_who_has_the_least_mean_rank(seed: int) -> None:
    rows = made_rows(["a", "b", "c", "d"], SOME, seed=seed)
    found = told(rows)
    for measure, title in (("auc", "AUC"), ("macro_f1", "macro F1"), ("micro_f1", "micro F1")):
        ranks = {method: 0.0 for method in SOME}
        for dataset in "abcd":
            order = sorted(SOME, key=lambda method: -mean_of(rows, dataset, method, measure))
            for place, method in enumerate(order):
                ranks[method] += (place + 1) / 4
        best = min(ranks.values())
        first = {"smtl-auc-l21": "SMTL(AUC) l21", "smtl-f1-l21": "SMTL(F1) l21", "br": "BR", "lp": "LP"} | {
            f"mtl-{kind}-l21": f"MTL-{kind.upper()} l21" for kind in ("cls", "reg")
        }
        sentence = found[f"By {title}"]
        assert f"{best:.2f}" in sentence
        for method, rank in ranks.items():
            if rank == best:
                assert first[method] in sentence.split(". ")[0]


def test_cells_of_the_paper_are_counted_by_brute_force() -> None:
    rows = made_rows(PAPER_SETS, ["smtl-auc-l11", "smtl-f1-trace", "br"], 2, seed=1)
    reached = 0
    for dataset in PAPER_SETS:
        for measure in PAPER_MEASURES:
            ours = max(mean_of(rows, dataset, method, measure) for method in ("smtl-auc-l11", "smtl-f1-trace"))
            reached += ours >= (best_smtl(dataset, measure) or 2.0)
    assert 0 < reached < 27
    text = told(rows)["Against the paper"]
    assert text.startswith("Of the 27 pairs")
    assert f"prints in {count(reached, 'cell').split()[0]}." in text


def test_duels_are_counted_by_brute_force() -> None:
    rows = made_rows(["a", "b", "c", "d", "e"], SOME, seed=2)
    text = told(rows)["Does training on the metric pay?"]
    for ours, measure, begin in (
        ("smtl-auc-l21", "auc", "Trained on AUC"),
        ("smtl-f1-l21", "macro_f1", "Trained on F1"),
    ):
        sentence = text[text.index(begin) :].split(".")[0]
        for rival in ("cls", "reg"):
            won = sum(mean_of(rows, d, ours, measure) > mean_of(rows, d, f"mtl-{rival}-l21", measure) for d in "abcde")
            assert f"MTL-{rival.upper()} on {won} of 5 with l21" in sentence


def test_speed_is_that_of_the_rows() -> None:
    row = {"split": 0, "status": "done", "auc": 0.9, "dataset": "optdigits"}
    rows = [
        row | {"method": "smtl-auc-l11", "train_seconds": 0.5, "fit_seconds": 5.0},
        row | {"method": "smtl-f1-l11", "train_seconds": 1.0, "fit_seconds": 10.0},
        row | {"method": "br", "train_seconds": 0.25, "fit_seconds": 2.5},
    ]
    text = told(rows)["Speed"]
    assert "took 0.500 to 1.00 s a split, and 5.00 to 10.0 s with the search" in text
    assert "training is 210 to 511 times its speed" in text
    assert "the least is SMTL(AUC) l11 on Optdigits, 0.500 s against 105 s" in text
    assert "2.00 to 4.00 times as long as training BR" in text


@pytest.mark.parametrize("n_splits", [1, 2])
@pytest.mark.parametrize("methods", [["br"], ["br", "lp"], ["smtl-auc-l21"], ["smtl-f1-l21", "mtl-cls-l21"], SOME])
@pytest.mark.parametrize("datasets", [["yeast"], ["a", "b"]])
def test_few_data_read_well(n_splits: int, methods: list[str], datasets: list[str]) -> None:
    found = told(made_rows(datasets, methods, n_splits, seed=4))
    assert found["What was run"].startswith(count(len(methods), "method").capitalize())
    if len(methods) == 1:
        assert not [heading for heading in found if heading.startswith("By ")]
    if len(datasets) == 1 and len(methods) > 1:
        assert "no test over data sets is possible" in found["By AUC"]


def test_nothing_and_only_failures() -> None:
    assert summary(Results.of([])) == [("What was run", "Nothing has been run yet.")]
    rows = made_rows(["a", "b"], ["br", "lp"], 2, failed=1.0)
    found = told(rows)
    assert found["What was run"].endswith("All 8 runs failed, so there is nothing to compare.")
    assert set(found) == {"What was run", "Failures"}
    assert "BR failed on a in two splits (ValueError: the labels of <task 3>" in found["Failures"]


@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_told(seed: int) -> None:
    rows = made_rows(["a", "b", "yeast"], SOME, 3, seed=seed, failed=0.3, missing=0.2)
    failed = sum(row["status"] == "failed" for row in rows)
    text = told(rows)["What was run"]
    assert f"{count(len(rows) - failed, 'run')} ended well".lower() in text.lower()
    assert f"{count(3 * 3 * len(SOME) - len(rows), 'run')} of the full table are not there".lower() in text.lower()


def test_lists_and_counts() -> None:
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcdefgh"), most=3) == "a, b, c and 5 more"
    assert count(1234, "run") == "1,234 runs"
