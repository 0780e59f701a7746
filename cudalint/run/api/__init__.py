"""cudalint as a library. Its names are to be had from `cudalint` itself."""
