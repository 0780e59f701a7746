"""How a program is built and run, read from its build files, of which nothing is executed."""
