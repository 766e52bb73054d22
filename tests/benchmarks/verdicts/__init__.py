"""Whether the verdicts of default fits are true; see README.md of the folder above."""
