"""Lets tests import toy_targets by name: pytest's importlib mode adds no folder to the path by itself."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
