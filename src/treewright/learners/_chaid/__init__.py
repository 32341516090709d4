"""The parts of CHAID: bins, tests, multipliers, merging, and the chooser that joins them."""
