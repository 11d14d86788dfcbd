"""Frozen grades: records and the stores that keep them."""
