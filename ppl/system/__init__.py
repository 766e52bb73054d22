"""The machine and the environment: files, memory, cores, the cache, optional packages."""
