"""The report in headless Chromium; skipped where there is no browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtl.experiments.methods import method_names
from smtl.experiments.report import write_report
from smtl.experiments.results import Results
from tests.unit.experiments.made_rows import made_rows

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.unit.browsing import asked_for, beyond_the_screen, browsing, needs_browser, set_size

pytestmark = needs_browser

SETS = ["emotions", "optdigits", "digits"]
METHODS = ["smtl-auc-l11", "smtl-f1-l11", "mtl-cls-l11", "mtl-reg-l11", "br", "lp", "ecc"]
ORDER = [name for name in method_names() if name in METHODS]
HOSTILE = '<script>document.title="taken"</script>'


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    imbalanced = made_rows([f"emotions@1:{ratio}" for ratio in (1, 5, 10)], METHODS, 2, seed=5)
    return made_rows(SETS, METHODS, 3, seed=2, missing=0.02) + imbalanced


@pytest.fixture(scope="module")
def address(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> str:
    strange = made_rows([HOSTILE], ["br", "lp", HOSTILE], 2, failed=0.2)
    results = Results.of(rows + strange, SETS)
    return write_report(results, tmp_path_factory.mktemp("report"), title=f"Study {HOSTILE}").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as driver:
        yield driver


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The report, fresh, at the size of a desk; at the end of every test the console must be empty."""
    set_size(browser, 1280, 900)
    browser.get(address)
    browser.execute_script("localStorage.clear(); delete document.documentElement.dataset.theme")
    browser.refresh()
    browser.get_log("browser")
    yield browser
    assert browser.get_log("browser") == []


def _column(page: Any, table: str, column: int, *, shown: bool = True) -> list[str]:
    """Return the texts of a column, by default of rows that are seen."""
    script = """
        return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
            .filter((row) => !arguments[2] || row.offsetParent !== null)
            .map((row) => row.cells[arguments[1]].textContent.trim());
    """
    return list(page.execute_script(script, table, column, shown))


def _head(page: Any, table: str, column: int) -> Any:
    return page.find_element(By.CSS_SELECTOR, f'#{table} th[data-c="{column}"]')


def _choose(page: Any, kind: str, text: str) -> None:
    chooser = page.find_element(By.CSS_SELECTOR, f'#choosers details[data-kind="{kind}"]')
    if chooser.get_attribute("open") is None:
        chooser.find_element(By.TAG_NAME, "summary").click()
    label = next(one for one in chooser.find_elements(By.TAG_NAME, "label") if one.text.strip() == text)
    label.click()


def _value(text: str) -> float:
    found = re.search(r"[-+]?\d+\.?\d*", text.replace("\N{MINUS SIGN}", "-"))
    return float(found[0]) if found else float("nan")


def test_tables_hold_the_figures_of_the_store(page: Any, rows: list[dict[str, Any]]) -> None:
    for d, dataset in enumerate(SETS):
        for column, measure in ((1, "macro_f1"), (7, "auc")) if dataset != "digits" else ((1, "macro_f1"), (3, "auc")):
            found = _column(page, f"results-{d}", column)
            for text, method in zip(found, ORDER, strict=False):
                values = [r[measure] for r in rows if (r["dataset"], r["method"]) == (dataset, method) and measure in r]
                assert _value(text) == pytest.approx(100 * np.mean(values), abs=0.0051)


def test_sorting_by_click_and_back(page: Any) -> None:
    before = _column(page, "results-0", 0)
    head = _head(page, "results-0", 1)
    assert head.get_attribute("aria-sort") == "none"
    for state, sign in (("descending", -1), ("ascending", 1)):
        head.find_element(By.CLASS_NAME, "sort").click()
        assert head.get_attribute("aria-sort") == state
        found = [_value(text) for text in _column(page, "results-0", 1)]
        known = [value for value in found if not np.isnan(value)]
        assert known == sorted(known, key=lambda value: sign * value)
        assert not np.isnan(found[: len(known)]).any()  # what is missing stands last
    head.find_element(By.CLASS_NAME, "sort").click()
    assert head.get_attribute("aria-sort") == "none"
    assert _column(page, "results-0", 0) == before


def test_sorting_by_keyboard_and_by_names(page: Any) -> None:
    button = _head(page, "results-1", 0).find_element(By.CLASS_NAME, "sort")
    button.send_keys(Keys.ENTER)
    names = _column(page, "results-1", 0)
    assert names == sorted(names, key=str.lower)
    button.send_keys(Keys.SPACE)
    assert _column(page, "results-1", 0) == names[::-1]
    assert page.execute_script("return document.activeElement.className") == "sort"
    # Another column takes over.
    _head(page, "results-1", 3).find_element(By.CLASS_NAME, "sort").send_keys(Keys.ENTER)
    assert _head(page, "results-1", 0).get_attribute("aria-sort") == "none"
    differences = [_value(text) for text in _column(page, "results-1", 3)]
    known = [value for value in differences if not np.isnan(value)]
    assert known == sorted(known, reverse=True)


def test_p_values_sort_as_numbers(page: Any) -> None:
    head = _head(page, "tests", 4).find_element(By.CLASS_NAME, "sort")
    head.click()
    head.click()
    values = [_value(text) - 1e-6 * text.startswith("<") for text in _column(page, "tests", 4)]
    known = [value for value in values if not np.isnan(value)]
    assert known == sorted(known)


def test_filters(page: Any) -> None:
    assert "BR" in _column(page, "results-0", 0)
    _choose(page, "m", "BR")
    for table in ("results-0", "results-1", "opponents", "ranks"):
        assert "BR" not in _column(page, table, 0)
        assert "BR" in _column(page, table, 0, shown=False)
    assert not page.execute_script(
        "return [...document.querySelectorAll('svg g[data-m]')].some("
        "(g) => g.textContent.startsWith('BR ') && g.getBoundingClientRect().width > 0)"
    )
    _choose(page, "d", "Emotions")
    assert _column(page, "results-0", 0) == []
    assert "Emotions" not in _column(page, "tests", 0)
    assert _column(page, "results-1", 0) != []
    assert not _head(page, "results-1", 10).is_displayed()
    _choose(page, "k", "average precision")
    assert _head(page, "results-1", 10).is_displayed()
    _choose(page, "k", "macro F1")
    assert not _head(page, "results-1", 1).is_displayed()
    summaries = [one.text for one in page.find_elements(By.CSS_SELECTOR, "#choosers summary")]
    assert summaries == ["Data sets 3 of 4", "Measures 3 of 8", "Methods 7 of 8"]
    page.find_element(By.ID, "reset").click()
    assert _column(page, "results-0", 0) != []
    assert "BR" in _column(page, "results-0", 0)
    assert _head(page, "results-1", 1).is_displayed()


def test_filters_by_keyboard(page: Any) -> None:
    summary = page.find_elements(By.CSS_SELECTOR, "#choosers summary")[2]
    summary.send_keys(Keys.ENTER)
    page.switch_to.active_element.send_keys(Keys.TAB, Keys.TAB)
    none = page.switch_to.active_element
    assert none.text == "none"
    none.send_keys(Keys.ENTER)
    assert _column(page, "results-0", 0) == []
    assert page.find_element(By.ID, "told").text == "No method is chosen."
    none.send_keys(Keys.TAB)
    page.switch_to.active_element.send_keys(Keys.SPACE)
    assert _column(page, "results-0", 0) == ["SMTL(AUC) l11"]
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert page.execute_script("return document.activeElement.tagName") == "SUMMARY"
    assert not page.find_elements(By.CSS_SELECTOR, "#choosers details[open]")


def test_what_has_the_focus_is_seen(page: Any) -> None:
    body = page.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    for _ in range(25):
        outline = page.execute_script(
            "const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]"
        )
        assert outline[0] != "none"
        assert outline[1] >= 1
        page.switch_to.active_element.send_keys(Keys.TAB)


def test_another_method_and_measure_for_the_paired_tests(page: Any, rows: list[dict[str, Any]]) -> None:
    Select(page.find_element(By.ID, "ours")).select_by_visible_text("SMTL(F1) l11")
    Select(page.find_element(By.ID, "by")).select_by_visible_text("macro F1")
    assert "SMTL(F1) l11 against each other method by macro F1" in page.find_element(By.ID, "tests-caption").text
    paired = Results.of([r for r in rows if "@" not in r["dataset"]], SETS).paired("macro_f1", "smtl-f1-l11")
    assert len(_column(page, "tests", 0)) == len(paired)
    for text, (test, *_) in zip(_column(page, "tests", 2), paired.values(), strict=True):
        assert _value(text) == pytest.approx(100 * test.difference, abs=0.0051)
    assert len(_column(page, "opponents", 0)) == len(METHODS) - 1


def test_the_theme_is_switched_and_remembered(page: Any) -> None:
    def ground() -> str:
        return str(page.execute_script("return getComputedStyle(document.body).backgroundColor"))

    def settles_at(wanted: str) -> bool:
        return any(ground() == wanted or page.execute_async_script("setTimeout(arguments[0], 50)") for _ in range(100))

    def prefer(scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    prefer("light")
    light = ground()
    prefer("dark")
    dark = ground()
    assert light != dark
    page.find_element(By.CSS_SELECTOR, "#theme input[value=light]").click()
    assert settles_at(light)
    page.refresh()
    assert settles_at(light)
    assert page.find_element(By.CSS_SELECTOR, "#theme input[value=light]").is_selected()
    prefer("light")
    page.find_element(By.CSS_SELECTOR, "#theme input[value=dark]").click()
    assert settles_at(dark)
    page.find_element(By.CSS_SELECTOR, '#theme input[value=""]').click()
    assert settles_at(light)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_told_from_its_ground(page: Any, scheme: str) -> None:
    page.find_element(By.CSS_SELECTOR, f"#theme input[value={scheme}]").click()
    script = """
        const style = getComputedStyle(document.documentElement);
        return Object.fromEntries(arguments[0].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    """
    grounds = ["ground", "panel", *(f"{way}{n}" for way in ("up", "down") for n in (1, 2, 3))]
    colours = page.execute_script(script, [*grounds, "ink", "muted", "smtl", "cls", "reg", "other", "accent"])

    def light(colour: str) -> float:
        parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    def contrast(a: str, b: str) -> float:
        high, low = sorted((light(colours[a]), light(colours[b])), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for ground in grounds:
        assert contrast("ink", ground) >= 4.5, ground
    for ink in ("muted", "smtl", "cls", "reg", "other", "accent"):
        assert contrast(ink, "ground") >= 4.5, ink


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_page_does_not_scroll_sideways(page: Any, width: int) -> None:
    set_size(page, width, 844)
    for details in ("", "document.querySelectorAll('details').forEach((one) => { one.open = true; });"):
        page.execute_script(details)
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
        # Whatever reaches beyond the screen stands in a box that scrolls.
        assert beyond_the_screen(page) == []


def test_no_request_to_a_network_address(browser: Any, address: str) -> None:
    asked = asked_for(browser, address)
    assert address in asked
    assert all(url == address or url.startswith("data:") for url in asked)


def test_names_are_harmless(page: Any) -> None:
    assert page.title == f"Study {HOSTILE}"
    assert page.find_element(By.TAG_NAME, "h1").text == f"Study {HOSTILE}"
    assert HOSTILE in _column(page, "methods", 1)


def test_print(page: Any, tmp_path: Path) -> None:
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not page.find_element(By.ID, "choosers").is_displayed()
        assert page.find_element(By.ID, "results-0").is_displayed()
        assert page.execute_script("return getComputedStyle(document.querySelector('.box.long')).overflow") == "visible"
        assert page.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
