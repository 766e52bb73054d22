"""The toy posterior, for every test here."""

from laws.toy import make_model, toy  # noqa: F401
