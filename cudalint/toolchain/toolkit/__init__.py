"""What the user's CUDA toolkit tells of compiled code: registers, shared memory, lines of its headers."""
