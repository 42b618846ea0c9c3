"""What a model's file may hold: the kinds of nodes of a skops schema and the types that a model needs, nothing else.

skops trusts far more by default (every estimator of scikit-learn, functions, partial functions). Here the schema is
walked before skops sees it, and whatever is not on the list below is refused: nothing is imported or constructed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Refused", "check_schema", "trusted_types"]

# The parts of a pipeline other than smtl's own, by the modules that define them.
_PARTS = (
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.decomposition._pca.PCA",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.feature_extraction.text.CountVectorizer",
    "sklearn.feature_extraction.text.HashingVectorizer",
    "sklearn.feature_extraction.text.TfidfTransformer",
    "sklearn.feature_extraction.text.TfidfVectorizer",
    "sklearn.feature_selection._variance_threshold.VarianceThreshold",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.impute._knn.KNNImputer",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.kernel_approximation.RBFSampler",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.Binarizer",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.Normalizer",
    "sklearn.preprocessing._data.PowerTransformer",
    "sklearn.preprocessing._data.QuantileTransformer",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._discretization.KBinsDiscretizer",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._encoders.OrdinalEncoder",
    "sklearn.preprocessing._polynomial.PolynomialFeatures",
)
# What skrub's TableVectorizer is made of, for those who have skrub.
_SKRUB = (
    "skrub._apply_to_each_col.ApplyToEachCol",
    "skrub._check_input.CheckInputDataFrame",
    "skrub._clean_categories.CleanCategories",
    "skrub._clean_null_strings.CleanNullStrings",
    "skrub._datetime_encoder.DatetimeEncoder",
    "skrub._drop_uninformative.DropUninformative",
    "skrub._duration_to_float.DurationToFloat",
    "skrub._string_encoder.StringEncoder",
    "skrub._table_vectorizer.PassThrough",
    "skrub._table_vectorizer.ShortReprDict",
    "skrub._table_vectorizer.TableVectorizer",
    "skrub._to_datetime.ToDatetime",
    "skrub._to_float.ToFloat",
    "skrub._to_str.ToStr",
    "skrub.selectors._base.All",
    "skrub.selectors._base.And",
    "skrub.selectors._base.Cols",
    "skrub.selectors._base.Filter",
    "skrub.selectors._base.Sub",
)
# Functions that these refer to by name. Each only looks at a column.
_FUNCTIONS = (
    "skrub._dataframe._common.is_any_date",
    "skrub._dataframe._common.is_categorical",
    "skrub._dataframe._common.is_numeric",
    "skrub._table_vectorizer._created_by_predicate",
    "skrub.selectors._selectors._cardinality_below",
)
_KEY_TYPES = ("builtins.float", "builtins.int", "builtins.str")
_NUMBER_TYPES = ("numpy.float32", "numpy.float64", "numpy.int64")  # types of what encoders return
# The parts of an ensemble. Trees are plain arrays, which are checked before scikit-learn gets them.
_ENSEMBLE = (
    "smtl.ensemble.ensemble.SMTLEnsemble",
    "smtl.ensemble.correction.Correction",
    "smtl.ensemble.boosted_trees.BoostedTrees",
    "smtl.ensemble.learners.boosting.BoostingLearner",
    "smtl.ensemble.learners.features.Features",
    "smtl.ensemble.learners.features.SparseScaler",
    "smtl.ensemble.learners.features.SparseToDense",
    "smtl.ensemble.learners.forest.CoarseForestLearner",
    "smtl.ensemble.learners.forest.ForestLearner",
    "smtl.ensemble.learners.kernel.KernelLearner",
    "smtl.ensemble.learners.linear.LinearLearner",
    "smtl.ensemble.learners.own_rows.PerTask",
    "smtl.ensemble.learners.own_rows.Pooled",
    "smtl.estimators.calibration.Curves",
    "smtl.estimators.isotonic.Steps",
)
# The parts of a table's encoder: what they know is names, numbers and words.
_TABLES = (
    "smtl.tables.encoder.TableEncoder",
    "smtl.tables.parts.CategoryPart",
    "smtl.tables.parts.DatePart",
    "smtl.tables.parts.NumberPart",
    "smtl.tables.parts.StringsPart",
    "smtl.tables.parts.TextPart",
)
_DICTS = ("builtins.dict", "smtl.notebook.Table")
_TUPLES = ("smtl.ensemble.combination.Combination", "smtl.ensemble.combination.Standard")
_SCALARS = ("bool", "bool_", "float32", "float64", "int32", "int64", "str_")
# Deep enough for any model: a pipeline's parameters are some ten levels down.
_DEEPEST = 60
# Nodes of older versions of the schema are read by other classes.
_PROTOCOL = 2


class Refused(Exception):  # noqa: N818
    """A reason not to load; who knows the file makes a `ModelError` of it."""


def trusted_types() -> list[str]:
    """Return the types whose instances a model may hold: parts of a pipeline and of an ensemble, metrics, penalties.

    Examples
    --------
    >>> "smtl.estimators.classifier.SMTLClassifier" in trusted_types(), "builtins.eval" in trusted_types()
    (True, False)
    """
    from smtl.estimators import SMTLClassifier, SMTLClassifierCV, SMTLRanker
    from smtl.metrics import Metric, metric_names
    from smtl.penalties import Penalty, penalty_names

    metric_names(), penalty_names()  # all their modules are imported now
    own = {SMTLClassifier, SMTLClassifierCV, SMTLRanker, *_below(Metric), *_below(Penalty)}
    names = sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in own if kind.__module__.startswith("smtl."))
    return [*_PARTS, *_SKRUB, *_FUNCTIONS, *_ENSEMBLE, *_TABLES, *_DICTS, *_TUPLES, *names]


def _below(base: type[Any]) -> set[type[Any]]:
    children: list[type[Any]] = base.__subclasses__()
    return {kind for child in children for kind in (child, *_below(child))}


def check_schema(schema: Any, arrays: Mapping[str, Any]) -> None:
    """Raise `Refused` unless every node is of a known kind and every type on the list.

    Parameters
    ----------
    schema : object
        The parsed schema.
    arrays : mapping
        The names of the arrays in the archive.

    Examples
    --------
    >>> node = {"__loader__": "FunctionNode", "__module__": "os", "__class__": "system", "protocol": 2}
    >>> check_schema(node, {})
    Traceback (most recent call last):
        ...
    smtl.model.schema.Refused: it holds os.system (FunctionNode), which no model needs
    """
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if isinstance(protocol, bool) or not isinstance(protocol, int) or protocol < _PROTOCOL:
        raise Refused(f"its protocol must be a whole number from {_PROTOCOL} on, got {protocol!r} instead")
    _Checker(arrays).check(schema, 0)


class _Checker:
    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.arrays = arrays
        self.types = set(trusted_types())
        self.kinds: dict[str, Callable[[dict[str, Any], str, int], bool]] = {
            "ObjectNode": self._object,
            "DictNode": self._dict,
            "ListNode": self._sequence,
            "TupleNode": self._sequence,
            "JsonNode": self._json,
            "NdArrayNode": self._array,
            "DTypeNode": self._dtype,
            # Of the keys of a dictionary (names, or classes that have weights), and of what encoders return.
            "TypeNode": lambda node, name, depth: name in (*_KEY_TYPES, *_NUMBER_TYPES),
            "FunctionNode": lambda node, name, depth: name in _FUNCTIONS,
            "SliceNode": self._slice,
        }

    def check(self, node: Any, depth: int) -> None:
        if depth > _DEEPEST:
            raise Refused(f"it is nested deeper than {_DEEPEST} levels")
        if not isinstance(node, dict) or not all(
            isinstance(node.get(key), str) for key in ("__loader__", "__module__", "__class__")
        ):
            raise Refused("it has a node without a type")
        name, loader = f"{node['__module__']}.{node['__class__']}", node["__loader__"]
        if loader not in self.kinds or not self.kinds[loader](node, name, depth + 1):
            raise Refused(f"it holds {name[:120]} ({loader[:60]}), which no model needs")

    def _all(self, nodes: Any, depth: int) -> bool:
        if not isinstance(nodes, list):
            return False
        for node in nodes:
            self.check(node, depth)
        return True

    def _object(self, node: dict[str, Any], name: str, depth: int) -> bool:
        if name not in self.types or name in (*_TUPLES, *_DICTS, *_FUNCTIONS):
            return False
        content: Any = node.get("content")
        loader = content.get("__loader__") if isinstance(content, dict) else None
        nothing = loader == "JsonNode" and content.get("content") == "null"  # of a penalty without parameters
        if loader != "DictNode" and not nothing:
            raise Refused(f"its {name} has attributes that are no dictionary")
        self.check(content, depth)
        return True

    def _slice(self, node: dict[str, Any], name: str, depth: int) -> bool:
        content = node.get("content")
        if name != "builtins.slice" or not isinstance(content, dict) or set(content) != {"start", "stop", "step"}:
            return False
        return all(end is None or type(end) is int for end in content.values())

    def _dict(self, node: dict[str, Any], name: str, depth: int) -> bool:
        content = node.get("content")
        if name not in _DICTS or not isinstance(content, dict):
            return False
        self.check(node.get("key_types"), depth)
        return self._all(list(content.values()), depth)

    def _sequence(self, node: dict[str, Any], name: str, depth: int) -> bool:
        fits = {"ListNode": ("builtins.list",), "TupleNode": ("builtins.tuple", *_TUPLES)}[node["__loader__"]]
        return name in fits and self._all(node.get("content"), depth)

    def _json(self, node: dict[str, Any], name: str, depth: int) -> bool:
        try:
            json.loads(node["content"])
        except (KeyError, TypeError, ValueError, RecursionError):
            raise Refused("it has a value that is no JSON") from None
        return name == "builtins.str"

    def _array(self, node: dict[str, Any], name: str, depth: int) -> bool:
        module, _, kind = name.rpartition(".")
        if module != "numpy" or kind not in ("ndarray", *_SCALARS):
            return False
        if node.get("type") == "numpy":
            if node.get("file") not in self.arrays:
                raise Refused(f"it names an array that is not there, {str(node.get('file'))[:120]!r}")
            return True
        if kind != "ndarray" or node.get("type") != "json":
            return False
        self.check(node.get("shape"), depth)
        return self._all(node.get("content"), depth)

    def _dtype(self, node: dict[str, Any], name: str, depth: int) -> bool:
        content = node.get("content")
        self.check(content, depth)
        return name == "numpy.dtype" and isinstance(content, dict) and content["__loader__"] == "NdArrayNode"
