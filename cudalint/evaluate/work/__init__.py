"""How often code is executed and what it computes: the counts that costs are made of."""
