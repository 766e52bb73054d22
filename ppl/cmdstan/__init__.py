"""CmdStan's side of the house: an executable that its clients drive without noticing."""
