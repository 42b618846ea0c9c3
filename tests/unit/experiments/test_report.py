from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtl.experiments.methods import method_names
from smtl.experiments.protocol import MEASURES
from smtl.experiments.published import paper_value
from smtl.experiments.report import write_report
from smtl.experiments.results import Results
from smtl.experiments.tables import NOTHING
from tests.unit.experiments.made_rows import PAPER_SETS, made_rows

SOME = ["smtl-auc-l11", "smtl-f1-l11", "mtl-cls-l11", "mtl-reg-l11", "adaboost-mh", "homer", "br", "lp"]
SETS = ["optdigits", "emotions", "mediamill", "digits"]
MARKS = "*†‡§¶"
HOSTILE = '<script>document.title="taken"</script>'


class Page(HTMLParser):
    """Tables by id, each a list of rows of texts; ids; tags; and texts of elements that matter."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.bold: dict[str, set[tuple[int, int]]] = {}
        self.classes: dict[str, dict[tuple[int, int], str]] = {}
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.captions: dict[str, str] = {}
        self._table: str | None = None
        self._body = self._cell = self._script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"] or "")
        if tag == "table":
            self._table = given["id"] or ""
            self.tables[self._table], self.bold[self._table], self.classes[self._table] = [], set(), {}
        elif tag in ("thead", "tbody"):
            self._body, self._cell = tag == "tbody", False
        elif tag == "tr" and self._table and self._body:
            self.tables[self._table].append([])
        elif tag in ("td", "th") and self._table and self._body:
            rows = self.tables[self._table]
            rows[-1].append("")
            self._cell = True
            self.classes[self._table][len(rows) - 1, len(rows[-1]) - 1] = given.get("class") or ""
        elif tag in ("script", "style"):
            self._script = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("tbody", "table"):
            self._body = self._cell = False
        if tag == "table":
            self._table = None
        if tag in ("script", "style"):
            self._script = False

    def handle_data(self, data: str) -> None:
        if self._script:
            return
        self.text.append(data)
        if self._table and self._cell:
            self.tables[self._table][-1][-1] += data.strip()


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    imbalanced = made_rows([f"emotions@1:{ratio}" for ratio in (1, 5, 10)], SOME, 2, seed=5)
    return made_rows(SETS, SOME, 3, seed=1, failed=0.03, missing=0.03) + imbalanced


@pytest.fixture(scope="module")
def folder(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_report(
        Results.of(rows, SETS),
        folder,
        settings={"cv": 5, "protocol": "stratified"},
        title="A study",
        command="smtl compare",
    )
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def figures(rows: list[dict[str, Any]], dataset: str, method: str, measure: str) -> list[float]:
    return [r[measure] for r in rows if (r["dataset"], r["method"]) == (dataset, method) and measure in r]


def test_the_tables_hold_the_figures_of_the_store(page: Page, rows: list[dict[str, Any]]) -> None:
    for d, dataset in enumerate(SETS):
        table = page.tables[f"results-{d}"]
        assert len(table) == len(SOME)
        width = 3 if dataset != "digits" else 1
        for line, method in zip(table, [m for m in method_names() if m in SOME], strict=True):
            for k, measure in enumerate(MEASURES):
                place = 1 + (width * k if k < 3 else 3 * width + k - 3)
                found = figures(rows, dataset, method, measure)
                expected = f"{100 * np.mean(found):.2f}" if found else NOTHING
                if len(found) > 1:
                    expected += f" ± {100 * np.std(found, ddof=1):.2f}"
                most = max(len(figures(rows, dataset, other, measure)) for other in SOME)
                assert line[place].rstrip(MARKS) == expected
                assert line[place].endswith(tuple(MARKS)) == (0 < len(found) < most)
                printed = paper_value(dataset, method, measure)
                if width == 3 and k < 3 and printed and found:
                    assert line[place + 1].rstrip(MARKS) == f"{100 * printed.mean:.2f} ± {100 * printed.std:.2f}"
                    difference = 100 * (np.mean(found) - printed.mean)
                    shown = float(re.sub(r"[▲▼ ]", "", line[place + 2]).replace("\N{MINUS SIGN}", "-"))
                    assert shown == pytest.approx(difference, abs=0.0051)
                    assert ("▲" in line[place + 2]) == (difference >= 0.25)
                    assert ("▼" in line[place + 2]) == (difference <= -0.25)


def test_the_best_of_each_column_is_bold(page: Page, rows: list[dict[str, Any]]) -> None:
    methods = [m for m in method_names() if m in SOME]
    for place, measure in ((1, "macro_f1"), (7, "auc"), (11, "hamming_loss")):
        found = [figures(rows, "optdigits", method, measure) for method in methods]
        means = [np.mean(each) if len(each) == max(map(len, found)) else np.nan for each in found]
        best = int(np.nanargmin(means) if measure == "hamming_loss" else np.nanargmax(means))
        bold = {
            row for (row, column), kind in page.classes["results-0"].items() if column == place and "b" in kind.split()
        }
        assert bold == {best}


def test_a_mean_over_fewer_splits_is_marked_and_never_bold(tmp_path: Path) -> None:
    rows = made_rows(["a"], ["br", "lp", "ecc"], 3)
    for row in rows:
        if row["method"] == "br":
            row["auc"] = 1.0  # the best, on the one split that has not failed
            if row["split"] > 0:
                row["status"] = "failed"
    written = write_report(Results.of(rows), tmp_path)
    text = written.read_text(encoding="utf-8")
    page = Page(text)
    names = [line[0] for line in page.tables["results-0"]]
    br = names.index("BR")
    assert page.tables["results-0"][br][3] == "100.00*"
    assert "over 1 of 3 splits" in text
    bold = {row for (row, column), kind in page.classes["results-0"].items() if column == 3 and "b" in kind.split()}
    assert len(bold) == 1
    assert br not in bold
    assert [line[-1] for line in page.tables["results-0"]] == ["1" if name == "BR" else "3" for name in names]
    assert "Each method on the same splits" not in text
    assert "A mean with a mark is over fewer" in text
    markdown, latex, table = ((tmp_path / "tables" / f"results-a.{kind}").read_text() for kind in ("md", "tex", "csv"))
    assert r"| 100.00\* |" in markdown
    assert markdown.splitlines()[-1] == r"\* over 1 of 3 splits"
    assert "& 100.00* &" in latex
    assert r"\footnotesize * over 1 of 3 splits" in latex
    assert {line["method"]: line["splits"] for line in csv.DictReader(table.splitlines())} == {
        "br": "1",
        "lp": "3",
        "ecc": "3",
    }
    whole = write_report(Results.of([row for row in rows if row["method"] != "br"]), tmp_path).read_text()
    assert "Each method on the same splits." in whole


def test_an_imbalanced_mean_over_fewer_splits_is_marked_and_a_path_stays_in_the_folder(tmp_path: Path) -> None:
    rows = made_rows(["../own.csv@1:1", "../own.csv@1:5"], ["br", "lp"], 2)[1:]
    page = Page(write_report(Results.of(rows), tmp_path / "in").read_text(encoding="utf-8"))
    table = page.tables["imbalance-own-csv-auc"]
    assert [cell.endswith("*") for line in table for cell in line[1:]].count(True) == 1
    assert (tmp_path / "in" / "tables" / "imbalance-own-csv-auc.tex").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_methods_by_import_path_can_be_chosen_for_paired_tests(tmp_path: Path) -> None:
    own = "my.module.Mine"
    for known, subjects in ((["smtl-auc-l21", "br"], {"smtl-auc-l21", own}), (["br", "lp"], {own})):
        rows = made_rows(["a", "b"], [*known, own], 3)
        text = write_report(Results.of(rows), tmp_path).read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
        for measure in ("macro_f1", "micro_f1", "auc"):
            assert subjects <= set(data["tests"][measure])
            assert len(data["tests"][measure][own]["tests"]) == 4
        assert f'<option value="{own}"' in text


@pytest.mark.parametrize(
    ("n_splits", "methods", "reachable"),
    [(3, ["br", "lp"], False), (6, ["br", "lp"], True), (6, ["br", "lp", "ecc"], False), (10, SOME, True)],
)
def test_it_is_said_where_wilcoxons_test_can_find_nothing(
    n_splits: int, methods: list[str], reachable: bool, tmp_path: Path
) -> None:
    """The least p of six splits is 2 / 64 = 0.03125: enough against one method, not against two."""
    rows = made_rows(["a", "b"], methods, n_splits)
    for row in rows:  # as clear as it can be
        row |= dict.fromkeys(MEASURES, 0.1 * methods.index(row["method"]) + 0.001 * row["split"])
    results = Results.of(rows)
    text = "".join(Page(write_report(results, tmp_path).read_text(encoding="utf-8")).text)
    assert ("Wilcoxon's test cannot fall below 0.05 after Holm's correction:" in text) == (not reachable)
    found = min(tested.wilcoxon for ours in methods for tested in results.paired("auc", ours).values())
    assert (found < 0.05) == reachable
    if not reachable:
        assert f"the least that it can reach there is {found:.3f}." in text


def test_the_paper_is_cited_once_and_what_is_not_its_protocol_said(tmp_path: Path) -> None:
    cited = "Optimizing Evaluation Metrics for Multi-Task Learning"
    rows = made_rows(["yeast", "emotions"], ["br", "lp"], 2)
    for protocol, words in (("stratified", "made otherwise (protocol: stratified)"), ("paper", "like ours, but are")):
        text = write_report(Results.of(rows), tmp_path, settings={"protocol": protocol}).read_text(encoding="utf-8")
        assert text.count(cited) == 1
        assert "Ke, Y. Pan, J. Yin and C.-Q. Huang" in text
        assert words in text
    other = write_report(Results.of(made_rows(["a"], ["br", "lp"], 2)), tmp_path).read_text(encoding="utf-8")
    assert cited not in other
    assert "Its ten splits" not in other


def test_captions_do_not_call_seconds_percent(folder: Path) -> None:
    for path in (folder / "tables").glob("results-*.tex"):
        text = path.read_text(encoding="utf-8")
        assert "fit seconds" in text
        assert "in percent; of seconds the mean}" in text


def test_csv_is_unrounded(folder: Path, rows: list[dict[str, Any]]) -> None:
    with open(folder / "tables" / "results-optdigits.csv", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            for measure in [*MEASURES, "fit_seconds"]:
                found = figures(rows, "optdigits", line["method"], measure)
                assert float(line[measure]) == pytest.approx(np.mean(found), rel=1e-12)


def test_every_table_is_there_in_three_formats(folder: Path) -> None:
    names = {path.stem for path in (folder / "tables").iterdir()}
    assert {"results-optdigits", "results-digits", "tests-auc", "opponents-auc", "ranks", "nemenyi-auc"} <= names
    assert {"metric-pays", "metric-pays-counts", "imbalance-emotions-auc", "time-optdigits", "methods", "runs"} <= names
    for name in names:
        for suffix in ("csv", "md", "tex"):
            assert (folder / "tables" / f"{name}.{suffix}").stat().st_size > 0
    assert not [path for path in folder.rglob("*") if path.name.endswith(".part")]


def test_sections_stand_in_their_order_and_imbalance_by_itself(page: Page) -> None:
    sections = [given["id"] for tag, given in page.tags if tag == "section"]
    assert sections == ["summary", "results", "paired", "over-data-sets", "pays", "imbalance", "time", "record"]
    assert len([name for name in page.tables if name.startswith("results-")]) == len(SETS)
    for name, table in page.tables.items():
        if not name.startswith(("imbalance", "runs", "failures", "warnings")):
            assert "1:5" not in "".join(map("".join, table))
    assert ["Emotions 1:5", "emotions@1:5"] in [line[:2] for line in page.tables["runs"]]
    assert page.tables["imbalance-emotions-auc"]


def test_imbalance_is_that_of_its_rows(page: Page, rows: list[dict[str, Any]]) -> None:
    line = page.tables["imbalance-emotions-auc"][0]
    for place, ratio in enumerate((1, 5, 10)):
        mean = np.mean(figures(rows, f"emotions@1:{ratio}", "smtl-auc-l11", "auc"))
        assert line[place + 1].startswith(f"{100 * mean:.2f} ±")


def test_paired_tests_of_the_page_are_those_of_the_results(folder: Path, rows: list[dict[str, Any]]) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    plain = Results.of([row for row in rows if "@" not in row["dataset"]], SETS)
    assert set(data["tests"]) == {"macro_f1", "micro_f1", "auc"}
    for measure in data["tests"]:
        assert set(data["tests"][measure]) == {"smtl-auc-l11", "smtl-f1-l11"}
    expected = plain.paired("macro_f1", "smtl-f1-l11")
    found = data["tests"]["macro_f1"]["smtl-f1-l11"]["tests"]
    assert len(found) == len(expected)
    for (d, m, *cells), ((dataset, _), (test, holm, *_)) in zip(found, expected.items(), strict=True):
        assert data["datasets"][d].lower() == dataset
        assert data["methods"][m] in "".join(data["methods"])
        texts = [cell[0] if isinstance(cell, list) else cell for cell in cells]
        assert texts[1] == f"{test.wins} / {test.ties} / {test.losses}"
        for shown, p in ((texts[2], test.t_test), (texts[3], holm)):
            assert shown == (NOTHING if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}")


def test_time_table(page: Page, rows: list[dict[str, Any]]) -> None:
    ours, searched = (
        np.mean(figures(rows, "optdigits", "smtl-auc-l11", key)) for key in ("train_seconds", "fit_seconds")
    )
    line = page.tables["time-0"][0]
    assert line[0] == "SMTL(AUC) l11"
    assert float(line[1]) == pytest.approx(ours, rel=5e-3)
    assert float(line[2]) == pytest.approx(searched, rel=5e-3)
    assert line[3] == "105"
    assert float(line[4]) == pytest.approx(105.2 / ours, rel=5e-3)


def test_the_runs_are_there(folder: Path, rows: list[dict[str, Any]]) -> None:
    with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert "traceback" not in found[0]
    key = ("dataset", "method", "split")
    known = {tuple(str(row[name]) for name in key): row for row in rows}
    assert len(found) == len(rows)
    for line in found:
        row = known[tuple(line[name] for name in key)]
        assert line["status"] == row["status"]
        if row["status"] == "done":
            assert float(line["auc"]) == row["auc"]
            assert json.loads(line["versions"]) == row["versions"]


def test_record(page: Page, rows: list[dict[str, Any]]) -> None:
    text = "".join(page.text)
    assert "structured loss of AUC, l11" in text
    assert "smtl compare" in text
    assert "3.11.2" in text
    failed = {(r["dataset"], r["method"]) for r in rows if r["status"] == "failed"}
    assert len(page.tables["failures"]) == len(failed) > 0
    assert str(rows[0]["seed"]) in text


def test_the_page_is_whole_by_itself(folder: Path, page: Page) -> None:
    assert len(page.ids) == len(set(page.ids))
    for tag, given in page.tags:
        for attribute in ("src", "href", "action", "data", "poster", "srcset"):
            value = given.get(attribute)
            assert value is None or value.startswith("#") or value == "data:,", (tag, value)
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"@import|url\((?!data:)|https?://", text)


def test_the_same_results_give_the_same_bytes(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    some = Results.of([row for row in rows if row["dataset"] in ("digits", "emotions")][:60])
    first, second = (write_report(some, tmp_path / name).read_bytes() for name in "ab")
    assert first == second
    assert write_report(some, tmp_path / "a").read_bytes() == first


def test_names_are_harmless(tmp_path: Path) -> None:
    rows = made_rows(
        [HOSTILE, "a&b", "../../evil"], [HOSTILE, "x.y.<img src=x onerror=alert(1)>", "br", "smtl-f1-l21"], 3
    )
    rows.append({"dataset": "a&b", "method": HOSTILE, "split": 3, "status": "failed", "error": f"{HOSTILE}</script>"})
    rows[0]["warnings"] = [HOSTILE]
    written = write_report(
        Results.of(rows), tmp_path / "in", settings={HOSTILE: HOSTILE}, title=HOSTILE, command=f"smtl '{HOSTILE}'"
    )
    page = Page(written.read_text(encoding="utf-8"))
    assert [tag for tag, _ in page.tags].count("script") == 3
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert not [name for _, given in page.tags for name in given if name.startswith("on")]
    assert HOSTILE in "".join(page.text)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    for path in (tmp_path / "in" / "tables").glob("*.md"):
        assert "<script" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "rows",
    [
        [],
        made_rows(["a"], ["br"], 1),
        made_rows(["yeast"], ["smtl-auc-l21", "br"], 1),
        made_rows(["a", "b"], ["br", "lp"], 2, failed=1.0),
        made_rows(["emotions@1:1", "emotions@1:5"], ["br", "smtl-f1-l11"], 1),
        made_rows(["strange@1:x", "b"], ["br", "sklearn.svm.SVC"], 1),
        [{"dataset": "a", "method": "br", "split": 0, "status": "done", "auc": 0.5}],
    ],
    ids=["nothing", "one run", "one split", "all failed", "only imbalance", "strange names", "one figure"],
)
def test_few_data(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    page = Page(write_report(Results.of(rows), tmp_path).read_text(encoding="utf-8"))
    text = "".join(page.text)
    assert "Summary" in text
    assert not re.search(r"\bnan\b|\bNone\b(?!\.)|\binf\b", text)


def test_missing_methods_leave_dashes(tmp_path: Path) -> None:
    rows = [r for r in made_rows(["a", "b", "c"], ["br", "lp", "ecc"], 2) if (r["dataset"], r["method"]) != ("b", "lp")]
    page = Page(write_report(Results.of(rows), tmp_path).read_text(encoding="utf-8"))
    lp = next(line for line in page.tables["results-1"] if line[0] == "LP")
    assert set(lp[1:]) == {NOTHING}


def test_the_file_is_small(tmp_path: Path) -> None:
    rows = made_rows(PAPER_SETS, n_splits=2)
    size = write_report(Results.of(rows), tmp_path).stat().st_size
    # The number of splits hardly changes it: figures are of all splits together.
    assert size < 1_200_000
