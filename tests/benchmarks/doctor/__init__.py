"""Whether `doctor` finds what is wrong with a model, and nothing with a right one."""
