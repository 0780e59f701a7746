"""What the compiler makes of the accesses of the source: merged, moved out of loops, unrolled."""
