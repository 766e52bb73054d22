"""A posterior at machine speed: the emitted text traced by JAX and compiled.

Everything here but joining and out_of_reach imports jax, which only the extra "jax" installs; import it late.
"""
