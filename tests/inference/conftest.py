"""Lets tests import toy targets and parts of the papers: importlib mode adds no folder to the path."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parents[1] / "models" / "papers")]
