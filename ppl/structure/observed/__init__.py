"""Observations of a program: its terms by row of the data, and data drawn anew from its statements."""
