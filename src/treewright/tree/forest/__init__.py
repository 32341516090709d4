"""Forests: many trees in concatenated arrays."""
