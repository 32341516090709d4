"""The parts of AdaBoost: what each algorithm does in a round, the rounds, and errors by round."""
