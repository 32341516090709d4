"""Every estimator with every option on every strange table, in pairs and triples drawn by seed."""
