"""What authors of rules are given: the files of a new rule, and its documentation page."""
