"""The best answer there is: learners of several kinds, a joint layer on top, and cuts for the target."""

from __future__ import annotations

from smtl.ensemble.ensemble import SMTLEnsemble
from smtl.ensemble.learners import Learner, learner_names

__all__ = ["Learner", "SMTLEnsemble", "learner_names"]
