"""Whether an access does something wrong: out of bounds, misaligned, in rows of another length."""
