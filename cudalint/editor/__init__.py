"""The language server: what cudalint says of files that an editor holds. Only `cudalint lsp` imports it."""
