"""CUDA inside Python: finds the kernels in the string literals of a Python file and gives them to the front end as
texts of CUDA of which every character knows its place in the file. Linting runs nothing of the file."""
