"""Two versions of kernels beside each other: figures, resources, times, findings, and gates for the new one."""
