"""Proposers of the point to pass over the data at next, one to a file.

A new file in this folder, with a subclass of `Proposer` that sets ``name`` and ``order``, is all that a new one takes.
"""

from __future__ import annotations

from smtl.registry import import_all
from smtl.solvers.proposers.base import Proposer

__all__ = ["Proposer"]

import_all(__name__, __path__)
