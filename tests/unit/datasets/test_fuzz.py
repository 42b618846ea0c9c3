"""A few thousand damaged files; benchmarks/fuzz_datasets.py reads more, under limits of time and memory."""

import pytest

import fuzz_datasets


@pytest.mark.parametrize("name", list(fuzz_datasets.seeds()))
def test_a_damaged_file_is_read_or_refused(tmp_path, name):
    for files in fuzz_datasets.seeds()[name]:
        assert fuzz_datasets.read_case(name, files, tmp_path)
    n = 400
    fine = sum(fuzz_datasets.read_case(name, fuzz_datasets.cases(name, 7, i), tmp_path) for i in range(n))
    assert 0 < fine < n
