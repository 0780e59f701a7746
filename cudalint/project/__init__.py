"""What belongs to a linted project: configuration, the choice of files, annotations, suppressions, the baseline."""
