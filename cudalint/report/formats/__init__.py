"""Reporters: from results to text. They see diagnostics and facts, never the kernel IR."""
