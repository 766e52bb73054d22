"""The phases of a whole compilation, and what is stored of one in the user's cache and in executables."""
