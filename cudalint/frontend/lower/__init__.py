"""From libclang's tree to the kernel IR."""
