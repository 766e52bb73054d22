"""One file a family of distributions."""
