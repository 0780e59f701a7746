"""Texts of source files: lexing, brackets, conditions, launches, and places in them."""
