"""What users state: options of the analysis, annotations and the expressions in them, suppressions."""
