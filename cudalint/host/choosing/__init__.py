"""Numbers for what nothing gives: chosen for one reason after the other, and others tried beside them."""
