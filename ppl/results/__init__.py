"""Results of a fit: draws, files, summaries."""
