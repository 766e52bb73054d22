"""CmdStan's arguments as one tree, and settings in its words."""
