"""Pictures of fits: a table of kinds (`table.py`), which draw what `material.py` holds."""
