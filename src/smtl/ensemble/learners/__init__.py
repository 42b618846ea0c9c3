"""The kinds of models that an ensemble is made of, one file each: a class with a `name` is found by it."""

from __future__ import annotations

from smtl.ensemble.learners.base import Learner, learner_names
from smtl.registry import import_all

__all__ = ["Learner", "learner_names"]

import_all(__name__, __path__)
