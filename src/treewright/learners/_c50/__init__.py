"""The parts of C5.0."""
