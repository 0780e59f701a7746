"""The launches under which a kernel is evaluated."""
