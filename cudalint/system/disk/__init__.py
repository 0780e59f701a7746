"""Where a repository's border is, and all that is read of and written to the disk."""
