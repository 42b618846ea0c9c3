"""Print, as constraints for pip, the oldest version of each package that pyproject.toml allows."""

import re
import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]
wanted = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
bounds = {re.sub(r"\[.*\]", "", one) for one in wanted if ">=" in one}
print(*sorted(one.replace(">=", "==") for one in bounds), sep="\n")
