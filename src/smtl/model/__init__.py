"""The life of a model: a pipeline that is trained, saved as one file that holds data only, judged and explained."""

from __future__ import annotations

from smtl.model.errors import ModelError
from smtl.model.persistence import load_model, model_metadata, save_model

__all__ = ["ModelError", "load_model", "model_metadata", "save_model"]
