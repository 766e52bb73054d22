"""Drivers of the tools this project is measured against; each lives in a virtual environment of its own."""
