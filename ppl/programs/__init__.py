"""Programs as people and tools work on them: syntax errors explained, lints, fixes, layout, rewriting."""
