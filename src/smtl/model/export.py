"""Models for programs without smtl: as a graph of ONNX, or as plain figures."""

from __future__ import annotations

from smtl.model.export_json import json_weights
from smtl.model.export_onnx import onnx_graph
from smtl.model.onnx_ensemble import onnx_ensemble
from smtl.model.plain import PlainModel, plain_model

__all__ = ["PlainModel", "json_weights", "onnx_ensemble", "onnx_graph", "plain_model"]
