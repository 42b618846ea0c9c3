from __future__ import annotations

import csv
from importlib.resources import files

import pytest

from smtl.experiments.methods import method_names
from smtl.experiments.published import (
    PAPER_MEASURES,
    best_smtl,
    is_doubtful,
    paper_dataset,
    paper_seconds,
    paper_value,
    title_of_dataset,
)
from tests.unit.experiments.made_rows import PAPER_SETS

IN_PAPER = [name for name in method_names() if name != "thresholded-logistic"]


@pytest.mark.parametrize("dataset", PAPER_SETS)
def test_every_method_of_the_paper_has_its_three_figures_under_our_names(dataset: str) -> None:
    for method in IN_PAPER:
        for measure in PAPER_MEASURES:
            printed = paper_value(dataset, method, measure)
            assert printed is not None
            assert 0.0 < printed.mean < 1.0
            assert 0.0 < printed.std < 0.2
    assert paper_value(dataset, "thresholded-logistic", "auc") is None
    assert paper_value(dataset, "br", "hamming_loss") is None


@pytest.mark.parametrize(
    ("dataset", "method", "measure", "mean", "std"),
    [
        # Read off the paper's tables by hand, one for each way in which its rows are named.
        ("cal500", "smtl-auc-l21", "auc", 56.505, 0.511),
        ("cal500", "smtl-f1-trace", "macro_f1", 21.768, 0.333),
        ("segmentation", "mtl-cls-l11", "micro_f1", 82.518, 4.003),
        ("optdigits", "mtl-reg-trace", "auc", 99.293, 0.048),
        ("segmentation", "mlcssp", "macro_f1", 79.821, 8.533),
        ("optdigits", "struct-svm", "macro_f1", 36.276, 0.905),
    ],
)
def test_figures_of_the_paper(dataset: str, method: str, measure: str, mean: float, std: float) -> None:
    assert paper_value(dataset, method, measure) == pytest.approx((mean / 100, std / 100))


def test_seconds_of_the_paper() -> None:
    assert paper_seconds("optdigits", "smtl-auc-l11") == 105.2
    assert paper_seconds("emotions", "mtl-reg-l11") == 7.427
    assert paper_seconds("segmentation", "ecc") == 1.891
    assert paper_seconds("segmentation", "smtl-auc-l21") is None
    assert paper_seconds("yeast", "br") is None


def test_the_best_of_smtl_is_that_of_six_rows() -> None:
    text = (files("smtl.experiments") / "paper_results.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    for dataset in PAPER_SETS:
        for measure in PAPER_MEASURES:
            six = [float(r[measure]) for r in rows if r["dataset"].lower() == dataset and r["method"] == "SMTL"]
            assert len(six) == 6
            assert best_smtl(dataset, measure) == pytest.approx(max(six) / 100)
    assert best_smtl("digits", "auc") is None
    assert best_smtl("yeast", "hamming_loss") is None


def test_the_doubtful_rows_are_those_that_the_paper_prints_twice() -> None:
    for dataset in PAPER_SETS:
        figures: dict[object, list[str]] = {}
        for method in IN_PAPER:
            key = tuple(paper_value(dataset, method, measure) for measure in PAPER_MEASURES)
            figures.setdefault(key, []).append(method)
        twice = {method for same in figures.values() if len(same) > 1 for method in same}
        assert twice == {method for method in IN_PAPER if is_doubtful(dataset, method)}


def test_names_of_data_sets() -> None:
    assert [paper_dataset(name) for name in ("mediamill:paper", "TMC2007", "landmine")] == [
        "mediamill",
        "tmc2007",
        None,
    ]
    assert title_of_dataset("cal500") == "Cal500"
    assert title_of_dataset("songs.arff") == "songs.arff"
