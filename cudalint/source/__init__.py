"""Texts of source files: comments, literals and code told apart."""
