"""How much work a kernel does: operations and instructions, told by what each value depends on."""
