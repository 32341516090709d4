"""A tree for people: text, pictures, rules, paths, tables."""
