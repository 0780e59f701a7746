"""`python -m cudalint` is the same as `cudalint`."""

from cudalint.cli import main

if __name__ == "__main__":
    main()
