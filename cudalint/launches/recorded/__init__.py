"""Launches that a program made while it was recorded: the file that they are kept in, and the worlds that they are."""
