"""Numbers for what host code leaves open, chosen for one reason after the other."""
