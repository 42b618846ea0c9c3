"""Reports as web pages: one file that needs no network, with sections, a theme, tables that sort, and data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from string import Template
from typing import Any

from smtl.pages.html import definitions, framed_table, paragraph, picture

__all__ = ["definitions", "embedded", "framed_table", "page", "paragraph", "part", "picture"]


def page(
    title: str,
    sections: Sequence[tuple[str, str, str]],
    data: Any,
    *,
    css: str = "",
    js: str = "",
    head: str = "",
    controls: str = "",
) -> str:
    """Return a page.

    Parameters
    ----------
    title : str
        Its heading.
    sections : sequence of (str, str, str)
        Their names in the address, their headings, and their HTML.
    data : JSON
        What the script has as ``data``.
    css, js : str, optional
        Style and script beyond what all pages have. The script may use ``data``, ``all(selector, from)`` and
        ``sortTable(table, head, direction)``.
    head, controls : str, optional
        HTML for the end of the head, and for the place before the sections.

    Returns
    -------
    str
        HTML that needs no other file.

    Examples
    --------
    >>> made = page("A & B", [("one", "One", "<p>Text.</p>")], {"name": "</script>"})
    >>> "<h1>A &amp; B</h1>" in made, made.count("</script>"), "http://" in made
    (True, 3, False)
    """
    return Template(part(__name__, "page.html")).substitute(
        title=escape(title),
        css=part(__name__, "page.css") + css,
        js=part(__name__, "page.js") + js,
        head=head,
        contents="".join(f'<li><a href="#{name}">{escape(heading)}</a></li>\n' for name, heading, _ in sections),
        controls=controls,
        body="".join(
            f'<section id="{name}" aria-labelledby="{name}-heading"><h2 id="{name}-heading">{escape(heading)}</h2>\n'
            f"{inside}</section>\n"
            for name, heading, inside in sections
        ),
        data=embedded(data),
        version=escape(_version()),
    )


def part(package: str, name: str) -> str:
    """Return a text file that a package has beside its modules.

    Examples
    --------
    >>> part("smtl.pages", "page.html")[:15]
    '<!DOCTYPE html>'
    """
    return (files(package) / name).read_text(encoding="utf-8")


def embedded(data: Any) -> str:
    r"""Return data as JSON that may stand in a script element.

    Examples
    --------
    >>> print(embedded({"name": "</script>"}))
    {"name":"\u003c/script>"}
    """
    # No "<" may stand in a script element: it could be the beginning of its end.
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _version() -> str:
    try:
        return version("smtl")
    except PackageNotFoundError:
        return ""
