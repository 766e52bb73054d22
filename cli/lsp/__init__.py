"""The language server: what the frontend knows of a program, in the words of the Language Server Protocol."""
