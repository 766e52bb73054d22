"""From q to the draws that are written: importance resampling, or chains."""
