"""Data: named sets, made-up ones, and readers and writers of the formats of this field, one file each."""

from __future__ import annotations

from smtl.datasets.csv import read_csv, write_csv
from smtl.datasets.dataset import Dataset
from smtl.datasets.errors import DatasetError
from smtl.datasets.extreme import read_extreme
from smtl.datasets.formats import format_of, read, write
from smtl.datasets.generators import Multitask, make_multitask
from smtl.datasets.matlab import read_matlab
from smtl.datasets.meka import read_meka
from smtl.datasets.mulan import read_mulan, write_mulan
from smtl.datasets.named import dataset_names, load_dataset
from smtl.datasets.parquet import read_parquet
from smtl.datasets.svmlight import read_svmlight, write_svmlight

__all__ = [
    "Dataset",
    "DatasetError",
    "Multitask",
    "dataset_names",
    "format_of",
    "load_dataset",
    "make_multitask",
    "read",
    "read_csv",
    "read_extreme",
    "read_matlab",
    "read_meka",
    "read_mulan",
    "read_parquet",
    "read_svmlight",
    "write",
    "write_csv",
    "write_mulan",
    "write_svmlight",
]
