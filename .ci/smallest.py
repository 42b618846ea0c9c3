"""Try an install without extras: what it brings, its fits, and what the command smtl, the argument, says."""

import subprocess
import sys
from importlib.metadata import distributions

from sklearn.datasets import make_multilabel_classification

from smtl import SMTLClassifier, SMTLClassifierCV, SMTLEnsemble

NEEDED = {"smtl", "numpy", "scipy", "scikit-learn", "numba"}
# What those four need themselves, and what a new environment has.
THEIRS = {"joblib", "threadpoolctl", "llvmlite", "narwhals", "cloudpickle", "pip", "setuptools"}

installed = {one.metadata["Name"].lower() for one in distributions()}
print("installed:", *sorted(installed))
if installed - THEIRS != NEEDED:
    sys.exit(f"A plain install must bring {sorted(NEEDED)}, got {sorted(installed - THEIRS)} instead.")

X, Y = make_multilabel_classification(200, n_classes=3, random_state=0)
for model in (SMTLClassifier("f1"), SMTLClassifierCV(Cs=4, cv=3), SMTLEnsemble(preset="fast", cv=3)):
    answers = model.fit(X[:150], Y[:150]).predict(X[150:])
    right = (answers == Y[150:]).mean()
    print(f"{type(model).__name__}: {right:.0%} of the answers on new rows are right")
    if not right > max(Y[150:].mean(), 1.0 - Y[150:].mean()):
        sys.exit("A model must be better than one answer for all.")

command = subprocess.run([sys.argv[1], "fit", "x.csv"], capture_output=True, text=True, check=False)
print(command.stderr, end="")
if command.returncode != 1 or "pip install 'smtl[cli]'" not in command.stderr:
    sys.exit("Without its extra, the command must say what to install.")
