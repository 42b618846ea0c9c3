"""Checks for what users write themselves."""

from smtl.testing.penalties import check_penalty

__all__ = ["check_penalty"]
