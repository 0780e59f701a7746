"""From libclang's tree to the kernel IR."""

from cudalint.frontend.lower.unit import lower_unit

__all__ = ["lower_unit"]
