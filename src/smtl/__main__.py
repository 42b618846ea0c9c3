"""The ``smtl`` script, and ``python -m smtl``: the command line, or what to install where it is not all there."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from smtl.extras import of_extra

    try:
        with of_extra("cli", "commands"):
            from smtl.cli import main as run
    except ImportError as error:
        print("Error:", error, file=sys.stderr)
        sys.exit(1)
    run()


if __name__ == "__main__":
    main()
