"""The grammar of the language, as package data."""
