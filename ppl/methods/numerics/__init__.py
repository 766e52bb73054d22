"""Linear algebra and point sets that the rooms beside share."""
