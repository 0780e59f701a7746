"""The rest of the program that a file belongs to: who launches its kernels, with which sizes."""
