"""A part of the files of benchmarks/fuzz_tables.py."""

import fuzz_tables
from tests.seeds import new_seed


def test_random_and_damaged_tables_are_read_or_refused(tmp_path):
    seed, n = new_seed(), 300
    print(f"python benchmarks/fuzz_tables.py --seed {seed} --files {n}")
    n_read = 0
    for index in range(n):
        this = fuzz_tables.case(seed, index)
        print(index, this.name, this.options)
        n_read += fuzz_tables.read_case(this, tmp_path)
    assert n / 3 <= n_read < n
