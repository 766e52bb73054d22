"""Tapes compiled: a function of arrays is traced once, and its gradient then runs as straight-line Python.

A tape of autograd is built anew for every gradient, though most programs compute the same operations at
every point. `tracer.py` records them, `namespace.py` is the namespace that programs run in meanwhile, and
`tape.py` writes what was recorded, with the adjoints in reverse, as one Python function.
"""
