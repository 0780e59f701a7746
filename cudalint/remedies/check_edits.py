"""The edit that asks before a launch what its kernel takes for granted: `assert(n % 4 == 0);`. Where nothing in sight
launches it, the kernel asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from cudalint.diagnostics import Edit
from cudalint.facts import Insertion, KernelFacts, LaunchFacts, Place
from cudalint.remedies.headers import included
from cudalint.remedies.insertions import before_statement, insertions
from cudalint.remedies.launch_texts import arguments_of
from cudalint.remedies.obstacles import Obstacle
from cudalint.remedies.outermost import body_of, statements
from cudalint.remedies.spelling import NAME, parameter_names
from cudalint.source.code import CodeText, code_text


def check_edits(
    kernel: KernelFacts, launch: LaunchFacts, condition: str, text_of: Callable[[str], str]
) -> tuple[Edit, ...]:
    """The edits for a condition on the kernel's parameters, or on what the host calls their values. Raises an
    `Obstacle` where a parameter is given no plain name, or the condition is not one of the kernel's parameters."""
    site = launch.site
    if site is None or launch.source != "launch-site":
        return _in_kernel(kernel, condition, text_of)
    source = code_text(text_of(site.place.path))
    given = arguments_of(kernel, site.place, text_of)
    for name in dict.fromkeys(NAME.findall(condition)):
        value = given.get(name, name)
        if not re.fullmatch(r"[\w.]+(?:->\w+)*", value):
            raise Obstacle(f"`{name}` is given as `{value}`")
        condition = re.sub(rf"(?<![\w.>]){name}\b", value.replace("\\", r"\\"), condition)
    asked = before_statement(source.text, site.place, f"assert({condition});")
    if not asked:
        raise Obstacle(f"the launch at line {site.place.line} is no statement of its own")
    return _with_header(site.place.path, source, asked)


def _in_kernel(kernel: KernelFacts, condition: str, text_of: Callable[[str], str]) -> tuple[Edit, ...]:
    path = kernel.place.path
    source = code_text(text_of(path))
    names = parameter_names(kernel, text_of)
    other = next((name for name in NAME.findall(condition) if name not in names), None)
    if other is not None:
        raise Obstacle(f"`{other}` is no parameter of `{kernel.name}`, and nothing in sight launches that")
    first = next(statements(source, body_of(kernel, source)), None)
    if first is None:
        raise Obstacle(f"`{kernel.name}` is spelled by a macro")
    place = Place(path, *source.position(first[0]), *source.position(first[1]))
    asked = insertions(source.text, place, "before", f"assert({condition});")
    if not asked:
        raise Obstacle(f"`{kernel.name}` is spelled by a macro")
    return _with_header(path, source, asked)


def _with_header(path: str, source: CodeText, asked: Iterable[Insertion]) -> tuple[Edit, ...]:
    checks = tuple(Edit(each.place, each.text) for each in asked)
    has_assert = re.search(r'#[ \t]*include[ \t]*[<"]assert\.h[>"]', source.text) is not None
    return (*(() if has_assert else included(path, source, ["cassert"])), *checks)
