"""A program read forward: `~` statements as draws, first of the parameters, then of the data."""
