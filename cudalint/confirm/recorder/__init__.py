"""Recording the launches of a program: a library that the CUDA driver loads into it, and what is made of its files."""
