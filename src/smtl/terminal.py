"""Text on a terminal: what comes from files must not command it.

Names, cells and messages can hold escape sequences, which move the cursor, change the title or hide what was printed,
and marks that turn the direction of text. `clean` shows them instead, written as JSON writes them. What is printed goes
through `CleanedStream`, what Rich prints through `clean_console`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["CleanedStream", "bare", "clean", "clean_console"]

# Controls but for tab and line end, C1 controls, line and paragraph separators, what turns the direction of text,
# what is not seen at all, and halves of characters, which no terminal can show.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    r"""Return text that is safe to print.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text; what a terminal would obey is written as JSON writes it, so that printed JSON says the same.

    Examples
    --------
    >>> print(clean("a\033[2Jb"))
    a\u001b[2Jb
    >>> clean("Größe\t日本\n") == "Größe\t日本\n"
    True
    """
    return _UNSAFE.sub(_as_json, text)


def _as_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[k]:02x}{units[k + 1]:02x}" for k in range(0, len(units), 2))


class CleanedStream:
    r"""A text stream that cleans what is written to it; all else is the stream's own.

    Parameters
    ----------
    stream : text file
        Where the text goes.

    Examples
    --------
    >>> print("title: \033]0;own\007", file=CleanedStream(sys.stdout))
    title: \u001b]0;own\u0007
    """

    def __init__(self, stream: Any) -> None:
        # Rich writes to what stands here. Its own escape sequences are wanted, and `clean_console` cleans the text.
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Write text, cleaned."""
        self.rich_proxied_file.write(clean(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write lines, cleaned."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def bare(stream: Any) -> Any:
    """Return the stream below all that clean what is written, or draw it above a display.

    Examples
    --------
    >>> bare(CleanedStream(CleanedStream(sys.stdout))) is sys.stdout
    True
    """
    while (below := getattr(stream, "rich_proxied_file", None)) is not None:
        stream = below
    return stream


def clean_console(*, stderr: bool = False) -> Console:
    r"""Return a console of Rich's that cleans what it prints.

    Parameters
    ----------
    stderr : bool, default=False
        Whether it prints to standard error.

    Returns
    -------
    Console
        The console.

    Examples
    --------
    >>> clean_console().print("one \033[2J name")
    one \u001b[2J name
    """
    from rich.console import Console
    from rich.segment import Segment

    class Cleaning(Console):
        @property
        def file(self) -> IO[str]:
            # While a display is on, Rich has a stream of its own before the one that cleans, and knows only that one.
            found: IO[str] = bare(super().file)
            return found

        @file.setter
        def file(self, new_file: IO[str]) -> None:
            self._file = new_file

        def push_render_hook(self, hook: Any) -> None:
            super().push_render_hook(hook)
            _clean_first()

        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(clean(text), **options)  # so that it is measured as it will be seen

        def render(self, *arguments: Any, **options: Any) -> Any:
            for segment in super().render(*arguments, **options):
                text, style, control = segment
                yield segment if control else Segment(clean(text), style)

    return Cleaning(stderr=stderr, highlight=False, emoji=False)


def _clean_first() -> None:
    """Clean what is printed while a display is on, where it is cleaned otherwise.

    A display puts a stream before the one that cleans. It takes colours and links of text for wanted ones. It takes
    that stream away itself when it ends, and this one with it.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        below = getattr(stream, "rich_proxied_file", None)
        if not isinstance(stream, CleanedStream) and isinstance(below, CleanedStream):
            setattr(sys, name, CleanedStream(stream))
