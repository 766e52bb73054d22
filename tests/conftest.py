"""Lets tests import the shared laws, and draws the same examples in every run.

pytest's importlib mode adds no folder to the path by itself.
"""

import sys
from pathlib import Path

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

sys.path.append(str(Path(__file__).parent))
