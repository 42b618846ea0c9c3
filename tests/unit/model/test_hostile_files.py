"""Files of models are what they should be, value by value, or they are refused."""

import ast
import importlib
import inspect
import io
import json
import textwrap

import numpy as np
import pytest

import fuzz_models
from smtl import SMTLClassifier
from smtl.model import ModelError, load_model, save_model
from smtl.model.contents import CONTENTS
from smtl.model.schema import trusted_types
from tests.seeds import new_seed

# Their attributes are plain parameters; trees are checked where they are built.
OTHER_CLASSES = ("BoostedTrees", "ForestLearner", "CoarseForestLearner")
ANY_LENGTH = ("null_tasks_", "landmarks", "held_out_scores_")
OTHERS = ("smtl.notebook.", "smtl.metrics.", "smtl.penalties.", "smtl.ensemble.boosted_trees.")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return the parts of models of several kinds."""
    return {name: fuzz_models.taken_apart(content) for name, content in fuzz_models.seeds().items()}


def again(parts):
    return {name: json.loads(json.dumps(part)) if not isinstance(part, bytes) else part for name, part in parts.items()}


def nodes(schema):
    """Yield the attributes of each object in a schema: its class, and their nodes by name."""
    waiting = [schema]
    while waiting:
        this = waiting.pop()
        if isinstance(this, dict):
            waiting += this.values()
            content = this.get("content")
            if this.get("__loader__") == "ObjectNode" and isinstance(content, dict):
                yield this["__class__"], content.get("content") or {}
        elif isinstance(this, list):
            waiting += this


def arrays(parts):
    """Yield each array of a model: the class that has it, its name there, and its file."""
    for kind, attributes in nodes(parts["schema.json"]):
        for key, node in attributes.items():
            if isinstance(node, dict) and node.get("type") == "numpy" and node["__class__"] == "ndarray":
                yield kind, key, node["file"]


def stored(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def refused(path, parts, what):
    path.write_bytes(fuzz_models.put_together(parts))
    try:
        load_model(path)
    except ModelError:
        return
    raise AssertionError(what)


@pytest.mark.parametrize("name", ["linear", "searched", "tasks", "table", "ensemble"])
def test_no_array_may_have_another_shape_or_hold_no_number(name, models, tmp_path):
    seen = 0
    for kind, key, file in arrays(models[name]):
        array = np.load(io.BytesIO(models[name][file]))
        if kind in OTHER_CLASSES or key in ANY_LENGTH:
            continue
        for wrong in (
            array[..., np.newaxis],
            array.astype("M8[D]") if array.dtype.kind == "i" else array.reshape(-1)[:0],
        ):
            if wrong.shape == array.shape and wrong.dtype == array.dtype:
                continue
            parts = again(models[name])
            parts[file] = stored(wrong)
            refused(tmp_path / "m", parts, (kind, key, array, wrong))
        if array.dtype.kind == "f" and array.size and key not in ("statistics_", "threshold_spread_", "scores_"):
            parts = again(models[name])
            array.flat[0] = np.nan
            parts[file] = stored(array)
            refused(tmp_path / "m", parts, (kind, key, array))
        seen += 1
    assert seen > 3


@pytest.mark.parametrize(
    "key", ["features", "tasks", "kind", "probe", "named_features", "versions", "training", "scores"]
)
@pytest.mark.parametrize("value", [1, "x", [1], {"tasks": 3, "rows": "many"}, None], ids=repr)
def test_no_metadata_may_be_of_another_kind(key, value, models, tmp_path):
    parts = again(models["linear"])
    if parts["smtl.json"][key] == value or (value is None and key in ("training", "scores")) or value == key:
        return
    parts["smtl.json"][key] = value
    refused(tmp_path / "m", parts, (key, value))


def test_characters_that_there_cannot_be_are_refused(models, tmp_path):
    parts = again(models["ensemble"])
    every = [name for name in parts if name.endswith(".npy")]
    texts = [name for name in every if np.load(io.BytesIO(parts[name])).dtype.kind == "U"]
    assert texts
    for order in "<>":
        array = np.load(io.BytesIO(parts[texts[0]]))
        codes = array.astype(array.dtype.newbyteorder(order)).view(f"{order}u4").copy()
        codes.flat[0] = 0x110000
        refused(tmp_path / "m", parts | {texts[0]: stored(codes.view(f"{order}U{array.dtype.itemsize // 4}"))}, order)


def test_names_of_learners_are_no_markup(models, tmp_path):
    parts = again(models["ensemble"])
    (board,) = [one["leaderboard_"] for _, one in nodes(parts["schema.json"]) if "leaderboard_" in one]
    name = board["content"]["learner"]["file"]
    parts[name] = stored(np.full(np.load(io.BytesIO(parts[name])).shape, "[/x]"))
    (tmp_path / "m").write_bytes(fuzz_models.put_together(parts))
    assert fuzz_models.use(tmp_path / "m")


@pytest.mark.parametrize("key", ["learner", "score", "weight", "seconds"])
def test_the_board_of_an_ensemble_has_names_and_numbers(key, models, tmp_path):
    parts = again(models["ensemble"])
    (board,) = [
        node for kind, one in nodes(parts["schema.json"]) if "leaderboard_" in one for node in [one["leaderboard_"]]
    ]
    content = board["content"]
    other = "score" if key == "learner" else "learner"
    content[key] = content[other]
    refused(tmp_path / "m", parts, key)


def test_an_attribute_that_is_missing_is_refused_or_not_needed(models, tmp_path):
    path = tmp_path / "m.skops"
    at, names = next(
        (k, sorted(a)) for k, (kind, a) in enumerate(nodes(models["ensemble"]["schema.json"])) if kind == "SMTLEnsemble"
    )
    kept = set()
    for name in names:
        parts = again(models["ensemble"])
        list(nodes(parts["schema.json"]))[at][1].pop(name)
        path.write_bytes(fuzz_models.put_together(parts))
        if fuzz_models.use(path):  # smtl inspect is part of that
            kept.add(name)
    assert not {"threshold_rule_", "threshold_spread_", "weights_", "learners_"} & kept


def test_an_attribute_that_no_model_has_is_refused(tmp_path):
    model = SMTLClassifier().fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    model.more_ = 1.0
    with pytest.raises(
        ModelError, match="its SMTLClassifier has 'more_', which is not among the attributes of a model"
    ):
        save_model(model, tmp_path / "m")


def assigned(kind):
    """Return the attributes that the methods of a class set."""
    names = set(getattr(kind, "__dataclass_fields__", ())) | set(getattr(kind, "_fields", ()))
    for base in kind.__mro__:
        if base.__module__.startswith("smtl."):
            for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(base)))):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                    names |= {node.attr} if getattr(node.value, "id", None) == "self" else set()
    return names


def test_every_fitted_attribute_is_listed():
    """Whoever adds one adds a line to `smtl.model.contents`."""
    own = [name for name in trusted_types() if name.startswith("smtl.") and not name.startswith(OTHERS)]
    assert len(own) > 20
    for name in own:
        module, _, kind = name.rpartition(".")
        found = getattr(importlib.import_module(module), kind)
        parameters = set(inspect.signature(found.__init__).parameters)
        assert assigned(found) - parameters - set(CONTENTS[kind]) == set(), name


def test_hostile_files_end_in_model_errors(tmp_path):
    told = []
    seed = new_seed()
    counts, failures, _, _ = fuzz_models.run(seed, range(120), told.append, 60.0, 1500, None)
    assert failures == 0, (seed, told)
    assert sum(counts.values()) == 120
    assert sum(n for (_, end), n in counts.items() if end == "refused") > 40
