"""The members of an ensemble: which rows they get, who grows them, what they answer."""
