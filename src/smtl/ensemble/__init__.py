"""Learners of several kinds, put together."""

from __future__ import annotations

from smtl.ensemble.learners import Learner, learner_names

__all__ = ["Learner", "learner_names"]
