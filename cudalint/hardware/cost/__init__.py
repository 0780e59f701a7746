"""The time model: from what a launch asks of the machine to what it waits for. docs/cost-model.md says how far off it
was. Pure functions on counts and the target's figures."""
