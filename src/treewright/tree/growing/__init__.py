"""Growing one tree: the recipe, the call of the growth loop, what it returns."""
