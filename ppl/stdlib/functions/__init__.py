"""Function records by topic."""
