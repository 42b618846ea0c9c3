"""The report of a model in headless Chromium: its figures are scikit-learn's at any cut; skipped without a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smtl import SMTLClassifier
from smtl.datasets import Dataset
from smtl.model.report import write_report
from tests.unit.model.test_report import SEED, best_f1, songs

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.unit.browsing import asked_for, beyond_the_screen, browsing, needs_browser, set_size

pytestmark = needs_browser

HOSTILE = '</script><b>x</b><script>document.title="taken"</script>'
TASKS = ("calm", HOSTILE, "never", "unknown")


def names(d):
    return tuple("</td><i>beat" if j == 0 else f"x{j}" for j in range(d))


def fitted(X, Y):
    """The tasks that are not learnt here are answered alike for every row, without a warning."""
    labels = np.column_stack([Y[:, :2], Y[:, 0], Y[:, 1]])
    return make_pipeline(StandardScaler(), SMTLClassifier(penalty="ridge", C=0.5)).fit(X, labels)


@pytest.fixture(scope="module")
def browser():
    with browsing() as driver:
        yield driver


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page, and the labels and scores that are behind it."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    X, Y = songs()
    model = fitted(X, Y)
    known = {"tasks": list(TASKS), "features": list(names(6)), "training": {"C": HOSTILE, "seed": 7}}
    data = Dataset(X, Y, names(6), TASKS, name=HOSTILE)
    write_report(model, data, path, metadata=known, row_names=[f"<u>{i}" for i in range(len(X))])
    return path.as_uri(), Y, model.decision_function(X)


@pytest.fixture
def page(browser, report):
    set_size(browser, 1280, 900)
    browser.get(report[0])
    browser.get_log("browser")
    yield browser
    assert browser.get_log("browser") == []


def text(page, name):
    return page.find_element(By.ID, name).get_attribute("textContent")


STATE = """
    const found = {cut: document.getElementById("cut-number").valueAsNumber, exact: {}};
    for (const id of ["tp", "fp", "fn", "tn", "precision", "recall", "f1"])
        found[id] = document.getElementById(id).textContent;
    for (const id of ["precision", "recall", "f1"]) found.exact[id] = Number(document.getElementById(id).dataset.value);
    const dots = [...document.querySelectorAll("#curves circle.now")];
    found.dots = dots.map((dot) => [dot.cx.baseVal.value, dot.cy.baseVal.value]);
    return found;
"""


def agrees(page, y, scores):
    """Compare all figures of the page with scikit-learn's at the cut that it shows."""
    shown = page.execute_script(STATE)
    yes = scores > shown["cut"]
    expected = {
        "precision": precision_score(y, yes, zero_division=0),
        "recall": recall_score(y, yes),
        "f1": f1_score(y, yes),
    }
    assert shown["exact"] == pytest.approx(expected, abs=1e-12)
    # Three digits, rounded; 0.5625 may be shown as 0.562 or as 0.563.
    assert all(re.fullmatch(r"\d\.\d{3}", shown[name]) for name in expected)
    assert {name: float(shown[name]) for name in expected} == pytest.approx(expected, abs=0.5e-3 + 1e-12)
    tn, fp, fn, tp = confusion_matrix(y, yes, labels=[False, True]).ravel()
    assert [int(shown[name].replace(",", "")) for name in ("tp", "fp", "fn", "tn")] == [tp, fp, fn, tn]
    # The dots are on the curves: 320 by 288 units, from (46, 298) on.
    places = [(expected["recall"], expected["precision"]), (fp / (fp + tn), expected["recall"])]
    for dot, (across, upwards) in zip(shown["dots"], places, strict=True):
        assert dot == pytest.approx([46 + 320 * across, 298 - 288 * upwards], abs=0.01)
    return shown["cut"]


def slide(page, place):
    """Move the slider as a drag does."""
    page.execute_script(
        "const s = document.getElementById('cut'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", place
    )


def test_moving_the_cut_off_gives_scikit_learns_figures(page, report):
    _, Y, scores = report
    rng = np.random.default_rng(SEED)
    slider, box = page.find_element(By.ID, "cut"), page.find_element(By.ID, "cut-number")
    for i in (0, 1):
        Select(page.find_element(By.ID, "which")).select_by_visible_text(TASKS[i])
        known = ~np.isnan(Y[:, i])
        y, s = Y[known, i] > 0, scores[known, i]
        assert text(page, "name") == f"Task {TASKS[i]}"
        assert agrees(page, y, s) == 0.0
        last = int(slider.get_attribute("max"))
        for place in (0, last, *rng.integers(last, size=3).tolist()):
            slide(page, place)
            agrees(page, y, s)
        for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.PAGE_UP, Keys.END):
            before = slider.get_property("value")
            slider.send_keys(key)
            assert slider.get_property("value") != before
            agrees(page, y, s)
        for typed in (*rng.normal(0, s.std(), size=2), 10 * s.max(), s[0]):
            box.send_keys(Keys.CONTROL + "a")
            box.send_keys(repr(float(typed)), Keys.TAB)
            assert agrees(page, y, s) == typed
        page.find_element(By.ID, "best").click()
        agrees(page, y, s)
        assert page.execute_script(STATE)["exact"]["f1"] == pytest.approx(best_f1(y, s), abs=1e-12)
        page.find_element(By.ID, "back").send_keys(Keys.ENTER)
        assert agrees(page, y, s) == 0.0
        for score, caption in ((average_precision_score, "pr-caption"), (roc_auc_score, "roc-caption")):
            figure = re.search(r"(?:average precision|AUC) (\d\.\d{3})\.$", text(page, caption))
            assert float(figure[1]) == pytest.approx(score(y, s), abs=0.5e-3 + 1e-12)


def test_a_task_without_both_classes_and_one_without_labels(page, report):
    page.find_element(By.LINK_TEXT, "never").click()
    assert text(page, "name") == "Task never"
    assert "labelled no in these data: there are no curves" in page.find_element(By.ID, "no-curves").text
    assert not page.find_element(By.ID, "curves").is_displayed()
    slide(page, 0)
    assert [text(page, name) for name in ("precision", "recall", "f1", "fp", "tn")] == [*"\N{EN DASH}" * 3, "300", "0"]
    page.find_element(By.ID, "next").click()
    assert "No row has a label for this task" in page.find_element(By.ID, "about").text
    assert not page.find_element(By.ID, "with-rows").is_displayed()
    assert not page.find_element(By.ID, "next").is_enabled()
    page.find_element(By.LINK_TEXT, "calm").click()
    assert page.find_element(By.ID, "curves").is_displayed()
    assert "2 of the 4 tasks have not both classes here" in page.find_element(By.CLASS_NAME, "summary").text


def test_the_table_has_scikit_learns_figures_and_sorts(page, report):
    _, Y, scores = report
    rows = page.find_elements(By.CSS_SELECTOR, "#tasks tbody tr")
    for i in (0, 1):
        known = ~np.isnan(Y[:, i])
        y, s = Y[known, i] > 0, scores[known, i]
        figures = (f1_score(y, s > 0), precision_score(y, s > 0, zero_division=0), recall_score(y, s > 0))
        figures = (*figures, roc_auc_score(y, s), average_precision_score(y, s))
        cells = [cell.text for cell in rows[i].find_elements(By.CSS_SELECTOR, "th, td")]
        assert cells[:8] == [TASKS[i], str(len(y)), str(y.sum()), *(f"{value:.3f}" for value in figures)]
    head = page.find_element(By.CSS_SELECTOR, '#tasks th[data-c="2"] .sort')
    for sign in (-1, 1):
        head.send_keys(Keys.ENTER)
        found = [int(cell.text) for cell in page.find_elements(By.CSS_SELECTOR, "#tasks tbody td:nth-child(3)")]
        assert found == sorted(found, key=lambda value: sign * value)


def test_names_do_no_harm(page, report):
    assert page.title == f"A model on {HOSTILE}"
    assert [option.text for option in Select(page.find_element(By.ID, "which")).options] == list(TASKS)
    assert "</td><i>beat" in [cell.text for cell in page.find_elements(By.CSS_SELECTOR, "#heat tbody th")]
    assert page.find_elements(By.CSS_SELECTOR, "main b, main i, main u") == []
    _, Y, scores = report
    known = Y[:, 0] == 0
    worst = np.flatnonzero(known)[np.argsort(-scores[known, 0])][0]
    if scores[worst, 0] > 0:
        assert page.find_element(By.CSS_SELECTOR, "#wrong_yes tbody th").text == f"<u>{worst}"


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_reaches_beyond_the_screen(page, width):
    set_size(page, width, 844)
    page.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    assert beyond_the_screen(page) == []
    page.find_element(By.LINK_TEXT, "never").click()
    assert beyond_the_screen(page) == []


def test_other_kinds_of_models_thinned_and_without_a_network(browser, tmp_path):
    set_size(browser, 1280, 900)
    X, Y = songs(2600)
    y = np.where(Y[:, 1] > 0, 1, -1)
    groups = np.array(["north", "south"])[np.arange(len(X)) % 2]
    classes = X[:, :3].argmax(axis=1)
    labels = (classes[:, None] == np.arange(3)).astype(int)
    kinds = {
        "binary": (SMTLClassifier("log", "ridge").fit(X[:300], y[:300]), Dataset(X, Y[:, [1]])),
        "tasks": (
            SMTLClassifier("f1", "ridge").fit(X[:300], y[:300], tasks=groups[:300]),
            Dataset(X, (y > 0).astype(int), tasks=groups),
        ),
        "multiclass": (SMTLClassifier("f1", "ridge").fit(X[:300], classes[:300]), Dataset(X, labels)),
    }
    for kind, (model, data) in kinds.items():
        path = tmp_path / f"{kind}.html"
        write_report(model, data, path)
        asked = asked_for(browser, path.as_uri())
        assert path.as_uri() in asked
        assert all(url == path.as_uri() or url.startswith("data:") for url in asked)
        scores = model.decision_function(X).reshape(len(X), -1)
        rows = groups == "north" if kind == "tasks" else np.full(len(X), True)
        truth = (labels[:, 0] if kind == "multiclass" else y)[rows] > 0
        thinned = "figures at each of them are exact" in text(browser, "thinned")
        assert thinned == (kind != "tasks")
        for place in (0, 100, 700, 1200):
            slide(browser, place)
            agrees(browser, truth, scores[rows, 0])
        box = browser.find_element(By.ID, "cut-number")
        box.send_keys(Keys.CONTROL + "a")
        box.send_keys("0.0123456789", Keys.TAB)
        cut = agrees(browser, truth, scores[rows, 0])
        assert (cut == 0.0123456789) == (not thinned)
        shown = browser.find_element(By.ID, "expected-head").get_property("hidden")
        assert shown == (kind != "binary")  # only the logistic loss has probabilities
        assert ("class that has the highest score" in browser.page_source) == (kind == "multiclass")
        # One yes/no question has no other task to choose.
        assert browser.find_element(By.ID, "chooser").is_displayed() == (kind != "binary")
        assert browser.get_log("browser") == []


def wanted_of(floor, measure):
    """What the page says of a floor, as a function of labels and answers: the figure, and whether it is kept."""
    measured = {"recall": recall_score, "precision": precision_score}[measure]

    def told(y, yes):
        reached = measured(y, yes, zero_division=0)
        kept = "kept" if reached >= floor else "not kept"
        start = f"The model's cut is to keep {measure} \u2265 {floor} on new rows. Here it is "
        return start, reached, f": {kept}."

    return told


def cost_of(miss, false_alarm):
    """What the page says of costs."""

    def told(y, yes):
        cost = (miss * np.sum(y & ~yes) + false_alarm * np.sum(~y & yes)) / len(y)
        start = f"A miss costs {miss}, a false alarm {false_alarm}. Here they cost "
        return start, cost, " a row, in the mean."

    return told


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({"threshold": "recall>=0.9"}, (wanted_of(0.9, "recall"),) * 2),
        ({"threshold": "precision>=0.8"}, (wanted_of(0.8, "precision"),) * 2),
        ({"costs": (5, 1)}, (cost_of(5, 1),) * 2),
        ({"costs": {1: (20, 3)}}, (cost_of(1, 1), cost_of(20, 3))),
    ],
    ids=["recall", "precision", "costs", "costs of a task"],
)
@pytest.mark.filterwarnings("ignore")
def test_the_slider_tells_whether_the_condition_holds_at_a_cut(browser, tmp_path, made, told):
    X, Y = songs()
    model = SMTLClassifier("auc", "ridge", C=0.5, **made).fit(X, Y[:, :2])
    write_report(model, Dataset(X, Y[:, :2], names(6), ("calm", "sad")), tmp_path / "report.html")
    set_size(browser, 1280, 900)
    browser.get((tmp_path / "report.html").as_uri())
    scores, shown = model.decision_function(X), browser.find_element(By.ID, "condition")
    rng = np.random.default_rng(SEED)
    for i, task in enumerate(("calm", "sad")):
        Select(browser.find_element(By.ID, "which")).select_by_visible_text(task)
        assert shown.is_displayed()
        known = ~np.isnan(Y[:, i])
        y, s = Y[known, i] > 0, scores[known, i]
        last = int(browser.find_element(By.ID, "cut").get_attribute("max"))
        for place in (None, 0, last, *rng.integers(last, size=8).tolist()):
            if place is not None:  # before that, the model's own cut
                slide(browser, place)
            cut = agrees(browser, y, s)
            start, value, end = told[i](y, s > cut)
            assert shown.text.startswith(start)
            assert shown.text.endswith(end)
            assert float(shown.text[len(start) : -len(end)]) == pytest.approx(value, abs=0.5e-3 + 1e-12, rel=5e-3)
            kept = {": kept.": "yes", ": not kept.": "no"}.get(end, "")
            assert shown.get_attribute("data-kept") == kept
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("rule", ["at-least-one", "at-most-1", "top-1", 0.0])
def test_a_rule_for_rows_is_named_and_a_number_is_no_condition(browser, tmp_path, rule):
    X, Y = songs()
    model = SMTLClassifier("log", "ridge", threshold=rule).fit(X, np.nan_to_num(Y[:, :2]))
    write_report(model, Dataset(X, Y[:, :2], names(6), ("calm", "sad")), tmp_path / "report.html")
    browser.get((tmp_path / "report.html").as_uri())
    shown = browser.find_element(By.ID, "condition")
    assert shown.is_displayed() == (rule != 0.0)
    assert rule == 0.0 or f"follow the rule {rule} for all labels of a row" in shown.text


def test_print_shows_the_task_without_its_controls(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not page.find_element(By.ID, "cutter").is_displayed()
        assert not page.find_element(By.ID, "chooser").is_displayed()
        for name in ("tasks", "confusion", "pr", "bins", "heat"):
            assert page.find_element(By.ID, name).is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
