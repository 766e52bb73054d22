"""The iterations of a run, what they report and how they end."""
