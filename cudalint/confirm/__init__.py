"""Predictions against a GPU: kernels are compiled and run under the launches that the linter evaluated."""
