"""How a program is built: its build files, and the toolkit of the machine."""
