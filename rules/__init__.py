"""The built-in rules, one module each; ships as `cudalint.rules`.

The engine imports every module of this package and takes the rules that are defined there, so a new rule is a
new file and nothing else. Modules import each other relatively, if at all, since type checkers and tools see this
folder under another name than the installed package.
"""
