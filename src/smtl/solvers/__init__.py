"""Solvers: each takes a `Problem` and returns a `Solution` with a certified gap."""

from __future__ import annotations

from smtl.registry import import_all
from smtl.solvers.base import Solution, Solver, Start, Stopping, check_stopping, solve, solver_names
from smtl.solvers.certificate import Certificate, FalseCertificateError
from smtl.solvers.critical import critical_C
from smtl.solvers.path import grid_of_Cs, solve_path
from smtl.solvers.problem import Problem
from smtl.solvers.seam import Losses, Pass, Trainable

__all__ = [
    "Certificate",
    "FalseCertificateError",
    "Losses",
    "Pass",
    "Problem",
    "Solution",
    "Solver",
    "Start",
    "Stopping",
    "Trainable",
    "check_stopping",
    "critical_C",
    "grid_of_Cs",
    "solve",
    "solve_path",
    "solver_names",
]

import_all(__name__, __path__)
