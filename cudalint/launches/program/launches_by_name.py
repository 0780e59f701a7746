"""Launches of kernels that are loaded from a module by their names, as host code of CUDA: from C++ that calls the
driver, from Rust and from Python. The text that stands for a file has each launch in its line there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from cudalint.launches.program.project_texts import without_types
from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text

_CALL: Final = regex(r"\b(?:cuLaunchKernel|cuLaunchCooperativeKernel|hipModuleLaunchKernel)\s*(?=\()")
_EXTENTS: Final = 8
"""Arguments of such a call up to the bytes of shared memory: the function, grid and block, the bytes."""
_VARIABLE: Final = regex(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\Z")
_LIFETIME: Final = regex(r"'(?=[a-z_]\w*\b(?!'))")
_FUNCTION: Final = regex(r"\bfn\s+\w+")
_BLOCK: Final = regex(r"\bblock_dim\s*:\s*|\bLaunchConfig\s*::\s*for_num_elems\s*(?=\()")
_GRID: Final = regex(r"\bgrid_dim\s*:\s*")
_OF_ELEMENTS: Final = "1024"
"""Threads of a block that cudarc launches for a number of elements."""
_CONSTANT: Final = regex(r"\b(?:const|static)\s+(\w+)\s*:\s*\w+\s*=\s*([^;{}]+);")
_LET: Final = regex(r"\blet\s+(?:mut\s+)?(\w+)\s*(?::\s*\w+\s*)?=\s*([\w\s+*/()-]+);")
_TUPLE: Final = regex(r"\blet\s*\(([^()]*)\)\s*=\s*match\b")
_AS: Final = regex(r"\s+as\s+\w+|(?<=\d)_?[ui](?:8|16|32|64|size)\b")
_PLAIN: Final = regex(r"[\w\s+*/-]+")


def as_host_code(path: str, text: str, kernels: Collection[str]) -> str:
    """The launches of kernels of these names that a file makes; of C++ within all of its text."""
    if path.endswith((".py", ".pyx")):
        from cudalint.frontend.python.extract import launches_of_files  # for projects with Python only

        return launches_of_files(text.encode(), kernels)
    return _of_rust(text, kernels) if path.endswith(".rs") else _of_driver(code_text(text), kernels)


# --- C++ -----------------------------------------------------------------------------------------------------


def _of_driver(code: CodeText, kernels: Collection[str]) -> str:
    held = _variables(code, kernels)
    pieces, at = list[str](), 0
    for match in _CALL.finditer(code.code):
        close = code.close(match.end())
        parts = code.parts(match.end() + 1, close - 1) if close is not None else []
        variable = _VARIABLE.search(parts[0]) if len(parts) >= _EXTENTS else None
        names = held.get(variable[1], ()) if variable is not None else ()
        if close is None or not names:
            continue
        launch = f"<<<dim3({', '.join(parts[1:4])}), dim3({', '.join(parts[4:7])}), {parts[7]}>>>()"
        lines = "\n" * code.text.count("\n", match.start(), close)
        launches = "; ".join(name + " ".join(launch.split()) for name in names)
        pieces += [code.text[at : match.start()], launches, lines]
        at = close
    return "".join((*pieces, code.text[at:])) if pieces else ""


def _variables(code: CodeText, kernels: Collection[str]) -> Mapping[str, Collection[str]]:
    """The kernels that variables hold, by the last names of these: `f` of `cuModuleGetFunction(&f, module, "k")`, and
    `kernel` of `this->kernel = program.get("k")`."""
    found: dict[str, dict[str, None]] = {}
    for offset, name in _literals(code.text, kernels, is_whole=True):
        start = code.statement_start(offset)
        before = code.code[start:offset]
        taken = re.search(r"\(\s*&\s*([\w.>\[\]-]+?)\s*,", before) or re.search(r"([\w.>\[\]-]+)\s*=(?!=)", before)
        variable = _VARIABLE.search(taken[1]) if taken is not None else None
        if variable is not None:
            found.setdefault(variable[1], {})[name] = None
    return found


def _literals(text: str, kernels: Collection[str], *, is_whole: bool = False) -> Iterator[tuple[int, str]]:
    """Where names of kernels are literals; or their beginnings, to which host code appends the types."""
    for name in kernels:
        base = without_types(name)
        found = [match.start() for match in re.finditer(rf'"{re.escape(name)}"', text)]
        if not found and not is_whole and base != name:
            found = [match.start() for match in re.finditer(rf'"{re.escape(base)}"', text)]
        yield from ((offset, name) for offset in found)


# --- Rust ----------------------------------------------------------------------------------------------------


def _of_rust(text: str, kernels: Collection[str]) -> str:
    code = code_text(_LIFETIME.sub(" ", text))
    constants = [f"const int {name} = {_as_c(value)};" for name, value in _CONSTANT.findall(code.code)]
    lines: dict[int, list[str]] = {}
    for offset, name in _literals(code.text, kernels):
        body = _function_around(code, offset)
        found = _launch_near(code, offset, body) if body is not None else None
        if body is None or found is None:
            continue
        block, grid, at = found
        names = {name: value for name, value in _LET.findall(code.code, body[0], at) if _PLAIN.fullmatch(value)}
        names |= _elements(code, offset, body)
        declared = "".join(f"int {name} = {_as_c(value)}; " for name, value in names.items())
        launch = f"{name}<<<dim3({_as_c(grid)}), dim3({_as_c(block)})>>>()"
        line = code.position(at)[0]
        lines.setdefault(line, []).append(f"void launch_{line}_{name}() {{ {declared}{launch}; }}")
    return _placed(lines, constants) if lines else ""


def _function_around(code: CodeText, offset: int) -> tuple[int, int] | None:
    """The body of the innermost function around a place."""
    found = None
    for match in _FUNCTION.finditer(code.code, 0, offset):
        open_ = code.code.find("{", match.end())
        end = code.close(open_) if open_ >= 0 else None
        if end is not None and open_ < offset < end:
            found = (open_, end)
    return found


def _launch_near(code: CodeText, offset: int, body: tuple[int, int]) -> tuple[str, str, int] | None:
    """The block and the grid of the first configuration behind a place, or else of the last one before it, as they are
    spelled, and where the block stands."""
    found = list(_BLOCK.finditer(code.code, *body))
    behind = [match for match in found if match.start() > offset]
    if not found:
        return None
    match = behind[0] if behind else found[-1]
    if not match[0].startswith("block_dim"):
        return _OF_ELEMENTS, "elements", match.start()
    grid = [each for each in _GRID.finditer(code.code, *body) if each.start() < match.start()]
    return _spelled(code, match.end()), _spelled(code, grid[-1].end()) if grid else "grid", match.start()


def _spelled(code: CodeText, offset: int) -> str:
    """The parts of the tuple at an offset, or the name there."""
    close = code.close(offset) if code.code[offset : offset + 1] == "(" else None
    if close is not None:
        return ", ".join(code.parts(offset + 1, close - 1))
    name = re.compile(r"[A-Za-z_]\w*").match(code.code, offset)
    return name[0] if name is not None else "extents"


def _elements(code: CodeText, offset: int, body: tuple[int, int]) -> dict[str, str]:
    """What the names of `let (name, block) = match …` are where a literal at an offset is one of the elements."""
    bound = list(_TUPLE.finditer(code.code, body[0], offset))
    open_ = _open_before(code.code, offset)
    close = code.close(open_) if open_ is not None else None
    if not bound or open_ is None or close is None:
        return {}
    parts = [code.text[first:last].strip() for first, last in code.between_commas(open_ + 1, close - 1)]
    names = [name.strip() for name in bound[-1][1].split(",") if name.strip()]
    parts = parts if parts[-1] else parts[:-1]
    return {
        name: value for name, value in zip(names, parts, strict=False)
        if len(names) == len(parts) and name.isidentifier() and _PLAIN.fullmatch(value)
    }  # fmt: skip


def _open_before(code: str, offset: int) -> int | None:
    """Where the parenthesis is opened that a place is in."""
    depth = 0
    for at in range(offset - 1, max(0, offset - 1000), -1):
        depth += (code[at] == ")") - (code[at] == "(")
        if depth < 0:
            return at
        if code[at] in "{};":
            return None
    return None


def _as_c(spelled: str) -> str:
    return " ".join(_AS.sub("", spelled).split())


def _placed(lines: Mapping[int, Collection[str]], first: Collection[str]) -> str:
    """Text in lines of these numbers, and something in front of all of it."""
    placed = [" ".join(lines.get(number, ())) for number in range(1, max(lines) + 1)]
    return "\n".join([f"{' '.join(first)} {placed[0]}", *placed[1:]])
