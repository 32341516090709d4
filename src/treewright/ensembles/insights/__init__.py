"""What an ensemble tells beside its predictions."""
