"""Lets tests import toy_targets and parts of the papers by name: importlib mode adds no folder to sys.path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parents[1] / "models" / "papers")]
