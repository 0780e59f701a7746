"""How much work a kernel does: operations and instructions, by what each value depends on."""
