"""The parts of oblique trees."""
