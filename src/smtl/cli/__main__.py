"""``python -m smtl.cli``: the same as the ``smtl`` script."""

from __future__ import annotations

from smtl.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
