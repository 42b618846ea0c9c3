"""Hostile model files: `load_model` may refuse them with `ModelError`, and do nothing else that is wrong.

    python benchmarks/fuzz_models.py [--files 50000] [--seed N] [--keep FOLDER]

Models of several kinds are taken apart (entries of the archive, nodes of the schema, arrays, metadata), one to three
parts are made wrong, and the file is put together and sealed again, so that its digest is right. A file that loads is
used as the commands use it: names, scores, answers, probabilities, and `smtl inspect --json` and `predict` on rows.
A failure is another exception than `ModelError` (of a loaded model, than ValueError), more than ``--seconds`` for one
file, or memory that grows by more than ``--megabytes``. The last lines count what was refused, by kind of damage.
"""

import argparse
import io
import json
import resource
import secrets
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from smtl.model import ModelError, load_model, save_model
from smtl.model.archive import pack

HOSTILE: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2**70,
    1e308,
    "",
    "x",
    "a" * 5000,
    [],
    {},
    [None],
    {"a": 1},
    "os.system",
    0.5,
]
CELLS = [0.0, -1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324]
Parts = dict[str, Any]


@cache
def seeds() -> dict[str, bytes]:
    """Return valid model files by kind."""
    import pyarrow as pa
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble
    from smtl.tables import TableEncoder

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(60, 2)) > 0).astype(int)
    words = ["red", "green", "blue"]
    table = pa.table({"beat": X[:, 0], "key": [words[k % 3] for k in range(60)], "year": X[:, 1]})
    scaled = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), SMTLClassifier())
    models = {
        "linear": scaled.fit(X, Y),
        "searched": SMTLClassifierCV("log", "l21", cv=2, Cs=[0.1, 1.0]).fit(X, Y[:, 0]),
        "tasks": SMTLClassifier().fit(X, Y[:, 0], tasks=np.arange(60) % 2),
        "table": make_pipeline(TableEncoder(), SMTLClassifier()).fit(table, Y),
        "ensemble": SMTLEnsemble(preset="fast", cv=2, random_state=0).fit(X, Y),
    }
    counts = {"rows": 45, "test_rows": 15}
    known = {
        "data": {"name": "songs.csv", "rows": 60, "features": 4, "checksum": "00"},
        "columns": {"labels": ["a", "b"], "task": None, "ignored": ["id"]},
        "training": counts | {"model": "linear", "C": "cv", "n_values": 5, "cv": 3, "gap": 1e-3, "preset": "fast"},
        "scores": {"tasks": [{"name": "a", "f1": 0.5, "auc": None}], "macro": {"f1": 0.5, "auc": 0.6}},
        "test_rows": "songs-test.csv",
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            save_model(model, Path(folder, "m"), metadata=known)
            found[name] = Path(folder, "m").read_bytes()
    return found


def taken_apart(content: bytes) -> Parts:
    """Return the parts of a file: schema and metadata as JSON, arrays as bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts: Parts = {name: archive.read(name) for name in archive.namelist()}
    for name in ("schema.json", "smtl.json"):
        parts[name] = json.loads(parts[name])
    return parts


def put_together(parts: Parts, compression: int = zipfile.ZIP_STORED, more: tuple[str, bytes] | None = None) -> bytes:
    """Return the file of some parts, sealed."""
    buffer = io.BytesIO()
    metadata = parts["smtl.json"]
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")  # two entries of one name
        for name, part in parts.items():
            if name != "smtl.json":
                archive.writestr(name, part if isinstance(part, bytes) else json.dumps(part))
        if more is not None:
            archive.writestr(*more)
    try:
        return pack(buffer.getvalue(), metadata)
    except ValueError:  # JSON without NaN: that is another kind of damage
        return pack(buffer.getvalue(), {"format": 1, "text": str(metadata)[:100]})


def places(node: Any) -> list[tuple[Any, Any]]:
    """Return all places in JSON, as what holds them and their key."""
    found: list[tuple[Any, Any]] = []
    waiting = [node]
    while waiting:
        this = waiting.pop()
        keys = list(this) if isinstance(this, dict) else range(len(this)) if isinstance(this, list) else ()
        for key in keys:
            found.append((this, key))
            waiting.append(this[key])
    return found


def damage_json(rng: np.random.Generator, root: Any) -> None:
    """Replace, remove, copy, move or change one value."""
    spots = places(root)
    if not spots:
        return
    holder, key = spots[rng.integers(len(spots))]
    kind = rng.integers(6)
    value = holder[key]
    if kind == 0:
        holder[key] = HOSTILE[rng.integers(len(HOSTILE))]
    elif kind == 1:
        del holder[key]
    elif kind == 2:
        other, place = spots[rng.integers(len(spots))]
        holder[key] = json.loads(json.dumps(other[place]))
    elif kind == 3 and isinstance(holder, list):
        holder.insert(int(rng.integers(len(holder) + 1)), json.loads(json.dumps(value)))
    elif kind == 4 and isinstance(value, str):
        at = int(rng.integers(len(value) + 1))
        holder[key] = value[:at] + str(rng.choice(["", "9", "-", "nan", "null", '"', "_", "e9"])) + value[at + 1 :]
    elif isinstance(value, int | float):
        holder[key] = type(value)(rng.choice([-1, 0, 1, 2, 10**6])) if rng.random() < 0.5 else value * 1e9
    else:
        holder[key] = HOSTILE[rng.integers(len(HOSTILE))]


def damage_array(rng: np.random.Generator, content: bytes) -> bytes:
    """Return another array: of another shape or type, with hostile values, or damaged bytes."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    kind = rng.integers(8)
    if kind == 0 and array.dtype.kind == "f" and array.size:
        array = array.copy()
        array.flat[rng.integers(array.size)] = rng.choice(CELLS)
    elif kind == 1 and array.dtype.kind in "iu" and array.size:
        array = array.copy()
        array.flat[rng.integers(array.size)] = rng.choice([-1, 0, 1, 100])
    elif kind == 2:
        array = array.T if array.ndim > 1 else array.reshape(-1, 1)
    elif kind == 3:
        array = array[:-1] if array.ndim else array.reshape(1)
    elif kind == 4:
        array = np.concatenate([array, array]) if array.ndim else np.array([array, array])
    elif kind == 5:
        array = array.astype(
            rng.choice(["float32", "int64", "bool", "U3", "complex128", "S3", "M8[D]", "float16"]), copy=True
        )
    elif kind == 6:
        array = np.zeros(tuple(rng.integers(0, 5, size=rng.integers(0, 4))))
    else:
        changed = bytearray(content)
        for _ in range(rng.geometric(0.5)):
            changed[rng.integers(len(changed) if rng.random() < 0.3 else min(128, len(changed)))] = rng.integers(256)
        return bytes(changed)
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def case(seed: int, index: int) -> tuple[str, bytes]:
    """Return the kind of damage, and a damaged file."""
    rng = np.random.default_rng([seed, index])
    names = list(seeds())
    content = seeds()[names[rng.integers(len(names))]]
    parts = taken_apart(content)
    arrays = [name for name in parts if name.endswith(".npy")]
    what = str(rng.choice(["schema", "schema", "array", "array", "metadata", "metadata", "archive", "bytes"]))
    if what == "bytes":
        changed = bytearray(put_together(parts))
        for _ in range(rng.geometric(0.4)):
            changed[rng.integers(len(changed))] = rng.integers(256)
        from hashlib import sha256

        body = bytes(changed[:-64])
        return what, body + sha256(body).hexdigest().encode()
    for _ in range(int(rng.integers(1, 4))):
        if what == "schema":
            damage_json(rng, parts["schema.json"])
        elif what == "metadata":
            damage_json(rng, parts["smtl.json"])
        elif what == "array" and arrays:
            name = arrays[rng.integers(len(arrays))]
            try:
                parts[name] = damage_array(rng, parts[name])
            except Exception:  # it was damaged before
                parts[name] = parts[name][:-1]
    if what == "archive":
        return what, _damaged_archive(rng, parts, arrays)
    return what, put_together(parts)


def _damaged_archive(rng: np.random.Generator, parts: Parts, arrays: list[str]) -> bytes:
    kind = rng.integers(5)
    if kind == 0:
        return put_together(parts, zipfile.ZIP_DEFLATED)
    if kind == 1:
        name = str(rng.choice(["../x", "/etc/x", "schema.json", "1.npy", "x.pkl", arrays[0] if arrays else "2.npy"]))
        return put_together(parts, more=(name, b"x" * int(rng.integers(100))))
    name = str(rng.choice([*arrays, "schema.json"]))
    if kind == 2:
        parts.pop(name)
    elif kind == 3:
        parts[f"{rng.integers(10**6)}.npy"] = parts.pop(name)
    else:
        other = str(rng.choice([*arrays, "schema.json"]))
        parts[name], parts[other] = parts[other], parts[name]
    return put_together(parts)


def use(path: Path) -> bool:
    """Load a file and use what it holds; return whether it could be loaded."""
    from smtl.model import model_metadata
    from smtl.model.scores import classifier_of, encoder_of, task_scores

    try:
        model = load_model(path)
    except ModelError:
        return False
    metadata = model_metadata(path)
    final, encoder = classifier_of(model), encoder_of(model)
    own = np.asarray(final.task_names_)[np.zeros(5, dtype=int)] if metadata["kind"] == "tasks" else None
    rows = np.zeros((5, len(metadata["features"]))) if encoder is None else encoder.made_up(5)
    try:
        scores = task_scores(model, rows, own)
    except ValueError:
        return True
    assert scores.shape == (5, len(final.thresholds_)) or metadata["kind"] == "tasks"
    _inspect(path)
    return True


def _inspect(path: Path) -> None:
    """Run `smtl inspect` in this process: what it says of its metadata must not end in an unexpected error."""
    from contextlib import redirect_stderr, redirect_stdout

    from smtl.cli import main

    arguments, sys.argv = sys.argv, ["smtl", "inspect", str(path)]
    errors = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(errors):
            main()
    except SystemExit:
        pass
    finally:
        sys.argv = arguments
    assert "(unexpected" not in errors.getvalue(), errors.getvalue()


def _late(*_: object) -> None:
    raise TimeoutError("the time limit is over")


def run(
    seed: int, indices: range, told: Callable[[str], None], seconds: float, megabytes: int, keep: Path | None
) -> Any:
    """Return counts of files by kind and end, how many failed, and the slowest and largest."""
    counts: Counter[tuple[str, str]] = Counter()
    failures, slowest, largest = 0, 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "hostile.skops")
        path.write_bytes(seeds()["linear"])
        assert use(path), "a file that is not damaged must load"
        for index in indices:
            what, content = case(seed, index)
            path.write_bytes(content)
            before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                end, failure = ("loaded" if use(path) else "refused"), None
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                end, failure = "failed", f"{type(error).__name__}: {str(error)[:300]}"
            signal.setitimer(signal.ITIMER_REAL, 0)
            slowest = max(slowest, time.perf_counter() - begin)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            largest = max(largest, grown)
            if failure is None and grown > megabytes:
                end, failure = "failed", f"memory grew by {grown:.0f} MB"
            counts[what, end] += 1
            if sum(counts.values()) % 2000 == 0:
                told(f"{sum(counts.values())} files, {failures} failures so far; slowest {slowest:.2f} s")
            if failure is not None:
                failures += 1
                told(f"  file {index} ({what}): {failure}")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{index}.skops").write_bytes(content)
    return counts, failures, slowest, largest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--start", type=int, default=0, help="the number of the first file")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=10.0, help="the most time for one file")
    parser.add_argument("--megabytes", type=int, default=1500, help="the most memory for one file")
    parser.add_argument("--keep", type=Path, default=None, help="a folder for files that fail")
    arguments = parser.parse_args()
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    signal.signal(signal.SIGALRM, _late)
    begin = time.perf_counter()
    indices = range(arguments.start, arguments.start + arguments.files)
    tell = lambda text: print(text, flush=True)  # noqa: E731
    counts, failures, slowest, largest = run(
        seed, indices, tell, arguments.seconds, arguments.megabytes, arguments.keep
    )
    for what in sorted({what for what, _ in counts}):
        print(f"{what:10} " + ", ".join(f"{end} {counts[what, end]}" for end in ("refused", "loaded", "failed")))
    took = time.perf_counter() - begin
    print(
        f"{arguments.files} files, {failures} failures; slowest {slowest:.2f} s, memory {largest:.0f} MB, "
        f"{took:.0f} s in all (seed {seed})"
    )
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
