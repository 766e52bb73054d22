"""IR to Python text against `xp`, and its loading."""
