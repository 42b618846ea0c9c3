"""How long the named sets take to load, from their files and from the cache, and how much memory that needs.

    python benchmarks/loading.py                    # all of it
    python benchmarks/loading.py times --repeats 5  # one part

Times are medians of rounds: files and cache (and, where there is one, another library's reader of the same file) are
timed in turn within a round, so that they share what else the machine does. Seconds of the processor, which do not
grow when other programs run, are given beside those of the clock. Memory is the peak of what Python and NumPy
allocate, while reading files with 1, 2 and 4 times as many non-zeros and in many more columns. Needs the data folder
(see real_data.py); the cache is in a folder of its own.
"""

import argparse
import os
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

import real_data
from smtl.datasets import Dataset, load_dataset, read_mulan, read_svmlight, write_mulan, write_svmlight

# The most seconds that loading from the files may take.
LIMITS = {"yeast": 1.5, "tmc2007": 3.0, "mediamill": 12.0}
FILES = {
    "yeast": ["yeast/yeast.arff"],
    "mediamill": ["mediamill/mediamill-train.svm.bz2", "mediamill/mediamill-test.svm.bz2"],
}


def timed(function):
    """Return seconds of the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - clock, time.process_time() - processor


def peer(name):
    """Return another library's reader of the same files, if there is one."""
    paths = [str(real_data.DATA / file) for file in FILES.get(name, [])]
    if name == "yeast":
        return "SciPy", lambda: arff.loadarff(paths[0])
    if name == "mediamill":
        return "scikit-learn", lambda: [load_svmlight_file(path, n_features=120, multilabel=True) for path in paths]
    return None, None


def times(names, repeats):
    print("set            files s (processor s)   limit    cache s   files / cache   peer / files")
    for name in names:
        rival, read = peer(name)
        load_dataset(name, folder=real_data.DATA)
        rounds = []
        for _ in range(repeats):
            files = timed(lambda name=name: load_dataset(name, folder=real_data.DATA, cache=False))
            cached = timed(lambda name=name: load_dataset(name, folder=real_data.DATA))
            theirs = timed(read) if read else (np.nan, np.nan)
            rounds.append([*files, cached[0], files[0] / cached[0], theirs[0] / files[0]])
        clock, processor, cached, ratio, theirs = np.median(rounds, axis=0)
        limit = f"{LIMITS[name]:5.1f}" if name in LIMITS else "    -"
        other = f"{theirs:.2f} ({rival})" if rival else ""
        print(f"{name:<14} {clock:7.3f} ({processor:6.3f})        {limit}   {cached:8.4f}   {ratio:13.1f}   {other}")


def peak(function):
    """Return the most bytes that were allocated at once, beyond what there was before."""
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def memory():
    print("\nformat     columns   non-zeros   peak MiB   peak bytes a non-zero")
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for d in (1_000, 20_000):
            for n in (5_000, 10_000, 20_000):
                X = sp.random(n, d, density=20 / d, format="csr", random_state=rng)
                data = Dataset(X, (rng.random((n, 3)) < 0.2).astype(np.int8))
                for name, write, read in (
                    ("svmlight", write_svmlight, read_svmlight),
                    ("Mulan", write_mulan, read_mulan),
                ):
                    path = Path(folder, f"sparse.{'svm' if name == 'svmlight' else 'arff'}")
                    write(data, path)
                    most, found = peak(lambda read=read, path=path: read(path))
                    assert (found.X != X).nnz == 0
                    print(f"{name:<8} {d:9,} {X.nnz:11,} {most / 2**20:10.1f} {most / X.nnz:23.1f}")
    for name in ("tmc2007", "mediamill"):
        most, found = peak(lambda name=name: load_dataset(name, folder=real_data.DATA, cache=False))
        nnz = found.X.nnz if sp.issparse(found.X) else np.count_nonzero(found.X)
        print(f"{name:<9} {found.X.shape[1]:8,} {nnz:11,} {most / 2**20:10.1f} {most / nnz:23.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["times", "memory", []], default=["times", "memory"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=list(real_data.NAMES))
    arguments = parser.parse_args()
    if not real_data.available():
        sys.exit(f"This needs the data sets in {real_data.DATA}; set SMTL_DATA.")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SMTL_CACHE"] = cache
        if "times" in arguments.parts:
            times(arguments.sets, arguments.repeats)
        if "memory" in arguments.parts:
            memory()


if __name__ == "__main__":
    main()
