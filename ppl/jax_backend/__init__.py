"""A posterior at machine speed: the emitted text traced by JAX and compiled.

Everything but joining and not_traceable imports jax, which only the extra "jax" installs; import it late.
"""
