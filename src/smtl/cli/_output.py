"""What is printed: text from files must not command the terminal.

Names, cells and messages can hold escape sequences, which move the cursor, change the title or hide what was printed,
and marks that turn the direction of text. `clean` shows them instead, written as JSON writes them. All that commands
print goes through it: `print` by the streams that `cleaned_streams` puts in place, Rich by `clean_console`.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["clean", "clean_console", "cleaned_streams", "data_output", "forget_output"]

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


class _Cleaned:
    """A text stream that cleans what is written to it; all else is the stream's own."""

    def __init__(self, stream: Any) -> None:
        # Rich writes to what stands here. Its own escape sequences are wanted, and `clean_console` cleans the text.
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        self.rich_proxied_file.write(clean(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def cleaned_streams() -> Iterator[None]:
    r"""Clean what is printed to standard output and standard error inside the ``with`` block.

    Examples
    --------
    >>> with cleaned_streams():
    ...     print("title: \033]0;own\007")
    title: \u001b]0;own\u0007
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Cleaned(sys.stdout), _Cleaned(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


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
        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(clean(text), **options)  # so that it is measured as it will be seen

        def render(self, *arguments: Any, **options: Any) -> Any:
            for segment in super().render(*arguments, **options):
                text, style, control = segment
                yield segment if control else Segment(clean(text), style)

    return Cleaning(stderr=stderr, highlight=False, emoji=False)


def data_output(*, raw: bool) -> IO[str]:
    """Return standard output for a command's data: as they are for a file, or if asked, else cleaned.

    Parameters
    ----------
    raw : bool
        Whether they are wanted as they are, wherever they go.

    Returns
    -------
    text file
        The stream.
    """
    stream: Any = sys.stdout
    own: Any = getattr(stream, "rich_proxied_file", stream)
    with suppress(OSError, ValueError, AttributeError):
        raw = raw or stat.S_ISREG(os.fstat(own.fileno()).st_mode)
    chosen: IO[str] = own if raw else stream
    return chosen


def forget_output() -> None:
    """Send what is left of standard output nowhere.

    Whoever reads it has enough, as ``head`` has: nothing more can be said to them, and that is no error of ours.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
