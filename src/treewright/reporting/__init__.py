"""Pages for people: the interactive tree and the report, each one HTML file without network."""
