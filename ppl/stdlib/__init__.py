"""The names that a program may call: one record a word, read by checker, emitter, tests and `ppl show`."""
