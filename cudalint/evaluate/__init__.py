"""Warp evaluation: what every lane of a block computes, symbolically, and the memory requests that follow."""
