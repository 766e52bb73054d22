"""What a fit leaves behind: draws, files, summaries."""
