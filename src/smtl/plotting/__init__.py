"""Pictures of fitted models, each as a display in the manner of scikit-learn's and as a function.

Labels and legends that would cover lines stand beside the axes. New figures make room for them; for axes of your own,
give the figure ``layout="constrained"``.

matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from smtl.plotting.convergence import ConvergenceDisplay
from smtl.plotting.cv_scores import CVScoreDisplay
from smtl.plotting.functions import plot_convergence, plot_cv_scores, plot_path, plot_precision_recall, plot_weights
from smtl.plotting.path import PathDisplay
from smtl.plotting.precision_recall import PrecisionRecallCutDisplay
from smtl.plotting.weights import WeightsDisplay

__all__ = [
    "CVScoreDisplay",
    "ConvergenceDisplay",
    "PathDisplay",
    "PrecisionRecallCutDisplay",
    "WeightsDisplay",
    "plot_convergence",
    "plot_cv_scores",
    "plot_path",
    "plot_precision_recall",
    "plot_weights",
]
