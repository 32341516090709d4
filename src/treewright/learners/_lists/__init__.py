"""Parts of SLIQ and SPRINT: attribute lists, where they are kept, and growth over them."""
