"""Which numbers a launch is executed with: all worlds of a batch, decided before anything runs."""
