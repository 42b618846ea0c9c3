"""The site in a real browser: wide and narrow, light and dark. SMTL_SITE names the folder that Sphinx has written."""

import os
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

from tests.unit.browsing import browsing, needs_browser, set_size

SITE = Path(os.environ.get("SMTL_SITE", "")).resolve()
pytestmark = [
    needs_browser,
    pytest.mark.skipif("SMTL_SITE" not in os.environ, reason="SMTL_SITE must name a built site: sphinx -W docs FOLDER"),
]
PAGES = [
    "index",
    "get_started",
    "guide/index",
    "guide/text",
    "how_it_works",
    "extend/metric",
    "gallery/index",
    "api/index",
    "api/smtl.estimators",
    "api/generated/smtl.ensemble.SMTLEnsemble",
    "ensemble",
    "tables",
    "scale",
    "faq",
]
WIDE, NARROW = (1280, 900), (390, 800)
SCREENS = 10  # that a page has at most, in a wide window
# Tables and code may scroll within their box. The article itself may not: what leaves it is cut off.
BEYOND = """
    const article = document.querySelector("main article") ?? document.querySelector("main");
    const edge = Math.min(innerWidth, article.parentElement.getBoundingClientRect().right);
    return [...article.querySelectorAll("*")].filter((one) => {
        const box = one.getBoundingClientRect();
        if (box.width === 0 || box.right <= edge + 1) return false;
        for (let up = one; up !== article; up = up.parentElement)
            if (["auto", "scroll", "hidden"].includes(getComputedStyle(up).overflowX)) return false;
        return true;
    }).map((one) => one.tagName + ": " + one.textContent.trim().slice(0, 60));
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    with browsing() as started:
        yield started


def errors(browser):
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page(page, address, browser):
    for size in (WIDE, NARROW):
        for mode in ("light", "dark"):
            set_size(browser, *size)
            browser.get(f"{address}/{page}.html")
            browser.execute_script("localStorage.setItem('mode', arguments[0])", mode)
            errors(browser)  # forgets those of the first visit, on which no mode has been chosen
            browser.get(f"{address}/{page}.html")
            assert browser.execute_script("return document.documentElement.dataset.theme") == mode
            assert browser.execute_script("return document.scrollingElement.scrollWidth") <= size[0] + 1, (size, mode)
            assert browser.execute_script(BEYOND) == [], (size, mode)
            assert errors(browser) == []
            pictures = browser.execute_script("""
                return [...document.querySelectorAll("main img")].filter((one) => one.loading !== "lazy")
                    .filter((one) => one.complete && one.naturalWidth === 0).map((one) => one.src);
            """)
            assert pictures == []


def test_formulas_are_set(address, browser):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(f"{address}/how_it_works.html")
    WebDriverWait(browser, 20).until(
        lambda at: at.execute_script("return document.querySelectorAll('mjx-container').length") > 3
    )


def test_search_finds(address, browser):
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(f"{address}/search.html?q=partial")
    WebDriverWait(browser, 20).until(lambda at: "Search finished" in at.find_element("css selector", "main").text)
    found = [one.get_attribute("href") for one in browser.find_elements("css selector", "ul.search li a")]
    assert any("PartialAUC" in link for link in found), found


def test_no_page_asks_another_host(address):
    for page in SITE.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for tag in ("<script", "<link", "<img"):
            for piece in text.split(tag)[1:]:
                head = piece.split(">")[0]
                assert 'src="http' not in head, (page, head)
                assert not ('href="http' in head and "stylesheet" in head), (page, head)


def test_no_page_is_longer_than_ten_screens(address, browser):
    set_size(browser, *WIDE)
    height = "return document.querySelector('main article, main').getBoundingClientRect().height"
    screens = {}
    for page in all_pages():
        browser.get(f"{address}/{page.relative_to(SITE).as_posix()}")
        screens[page.name] = browser.execute_script(height) / WIDE[1]
    assert len(screens) > 150
    assert {name: n for name, n in screens.items() if n > SCREENS} == {}


def all_pages():
    return [page for page in SITE.rglob("*.html") if not page.relative_to(SITE).parts[0].startswith("_")]


class Links(HTMLParser):
    """The addresses that a page leads to, the names in it, and references that led nowhere when it was built."""

    def __init__(self, html):
        super().__init__()
        self.targets, self.names, self.missing = [], set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.names |= {found.get("id"), found.get("name")}
        if tag == "a" and "href" in found:
            self.targets.append(found["href"])
        if tag == "span" and (found.get("class") or "").split() == ["xref", "myst"]:
            self.missing.append(found)


def test_links_lead_somewhere():
    pages = {page: Links(page.read_text(encoding="utf-8")) for page in all_pages()}
    wrong = [(page.name, one) for page, links in pages.items() for one in links.missing]
    for page, links in pages.items():
        for target in map(urlsplit, links.targets):
            if target.scheme:
                continue
            there = (page.parent / unquote(target.path)).resolve() if target.path else page
            known = there.is_file() and (
                not target.fragment or there not in pages or unquote(target.fragment) in pages[there].names
            )
            if not known:
                wrong.append((page.name, target.geturl()))
    assert wrong == []
