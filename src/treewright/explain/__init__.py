"""Explanations of single trees: what was tried at a node."""
