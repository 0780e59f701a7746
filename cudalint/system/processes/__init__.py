"""The limits of the processes that files are analysed in: time and memory, faults that cost what they happened in."""
