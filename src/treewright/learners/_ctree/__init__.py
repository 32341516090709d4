"""The parts of conditional inference trees."""
