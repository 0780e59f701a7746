"""The front end: CUDA source to kernel IR. Only this package knows libclang."""
