"""The log joint of a program with its data, and where each parameter lies in `u`."""
