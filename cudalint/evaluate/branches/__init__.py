"""Which warps a branch splits, what that costs them, and what could be done about it."""
