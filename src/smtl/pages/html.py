"""Parts of a page, every name escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["definitions", "framed_table", "paragraph", "picture"]


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph.

    Parameters
    ----------
    text : str
        What it says.
    kind : str, optional
        Its class.

    Returns
    -------
    str
        A ``p`` element.

    Examples
    --------
    >>> print(paragraph("a < b", "muted").strip())
    <p class="muted">a &lt; b</p>
    """
    return f"<p{_kind(kind)}>{escape(text)}</p>\n"


def _kind(classes: str) -> str:
    return f' class="{classes}"' if classes else ""


def framed_table(
    name: str, caption: str, inside: str, *, marks: str = "", kind: str = "", below: str = "", long: bool = False
) -> str:
    """Return a table in a box of its own that scrolls.

    Parameters
    ----------
    name : str
        The element's id.
    caption : str
        What it shows.
    inside : str
        The table's parts, as HTML.
    marks : str, optional
        Attributes of the whole.
    kind : str, optional
        The table's class.
    below : str, optional
        What stands under the box, as HTML.
    long : bool, default=False
        Whether it is so long that it scrolls up and down as well.

    Returns
    -------
    str
        A ``figure`` element.

    Examples
    --------
    >>> print(framed_table("t", "A & B", "<tbody></tbody>"))
    <figure><figcaption id="t-caption">A &amp; B</figcaption><div class="box" tabindex="0" role="region"
    aria-labelledby="t-caption"><table id="t" aria-labelledby="t-caption"><tbody></tbody></table></div></figure>
    """
    return (
        f'<figure{marks}><figcaption id="{name}-caption">{escape(caption)}</figcaption>'
        f'<div class="box{" long" if long else ""}" tabindex="0" role="region" aria-labelledby="{name}-caption">'
        f'<table id="{name}"{_kind(kind)} aria-labelledby="{name}-caption">{inside}</table>'
        f"</div>{below}</figure>\n"
    )


def picture(svg: str, caption: str, marks: str = "") -> str:
    """Return a picture with its caption in a box that scrolls.

    Parameters
    ----------
    svg : str
        The picture.
    caption : str
        What it shows.
    marks : str, optional
        Attributes by which it is filtered.

    Returns
    -------
    str
        A ``figure`` element.

    Examples
    --------
    >>> print(picture("<svg></svg>", "a < b").strip())
    <figure><figcaption>a &lt; b</figcaption><div class="box" tabindex="0" role="group"
    aria-label="a &lt; b"><svg></svg></div></figure>
    """
    text = escape(caption)
    return (
        f"<figure{marks}><figcaption>{text}</figcaption>"
        f'<div class="box" tabindex="0" role="group" aria-label="{text}">{svg}</div></figure>\n'
    )


def definitions(pairs: Iterable[tuple[str, object]], kind: str) -> str:
    """Return a list of words and what they stand for.

    Parameters
    ----------
    pairs : iterable of (str, object)
        The words and values.
    kind : str
        The class of the list.

    Returns
    -------
    str
        A ``dl`` element.

    Examples
    --------
    >>> print(definitions([("cv", 5)], "facts").strip())
    <dl class="facts"><dt>cv</dt><dd>5</dd></dl>
    """
    inside = "".join(f"<dt>{escape(word)}</dt><dd>{escape(str(value))}</dd>" for word, value in pairs)
    return f'<dl class="{kind}">{inside}</dl>\n'
