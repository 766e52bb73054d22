"""Lets tests import the shared laws: pytest's importlib mode adds no folder to the path by itself."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
