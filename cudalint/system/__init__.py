"""What the operating system gives: files, and processes with limits."""
