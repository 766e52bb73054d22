"""Lets tests import parts of the papers: importlib mode adds no folder to the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "models" / "papers"))
