"""Pictures of fits: a table of kinds (`kinds.py`), one file each, that draw what `material.py` holds."""
