"""The parts of optimal trees: which tests are tried, what leaves cost, the tree that was found."""
