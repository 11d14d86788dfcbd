"""Deterministic checks of an answer, one family a module."""
