"""What is stored of a compilation, in the user's cache and in executables."""
