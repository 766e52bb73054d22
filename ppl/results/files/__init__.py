"""Files of draws, in every format, written and read."""
