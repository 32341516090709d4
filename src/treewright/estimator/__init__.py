"""What all estimators share; knows no learner."""
