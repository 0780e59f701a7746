"""The edit that asks before a launch what its kernel takes for granted: `assert(n % 4 == 0);`."""

from __future__ import annotations

import re
from collections.abc import Callable

from cudalint.diagnostics import Edit
from cudalint.facts import KernelFacts, LaunchFacts, Place
from cudalint.remedies.headers import included
from cudalint.remedies.insertions import before_statement
from cudalint.remedies.obstacles import Obstacle
from cudalint.remedies.spelling import NAME, between_commas, parameter_names
from cudalint.source.code import CodeText, code_text


def check_edits(
    kernel: KernelFacts, launch: LaunchFacts, condition: str, text_of: Callable[[str], str]
) -> tuple[Edit, ...]:
    """The edits for a condition on the kernel's parameters, or on what the host calls their values. Raises an
    `Obstacle` where nothing in sight launches it, or a parameter is given no plain name."""
    site = launch.site
    if site is None or launch.source != "launch-site":
        raise Obstacle(f"nothing in sight launches `{kernel.name}`, where it could be asked")
    source = code_text(text_of(site.place.path))
    given = _arguments(kernel, site.place, source, text_of)
    for name in dict.fromkeys(NAME.findall(condition)):
        value = given.get(name, name)
        if not re.fullmatch(r"[\w.]+(?:->\w+)*", value):
            raise Obstacle(f"`{name}` is given as `{value}`")
        condition = re.sub(rf"(?<![\w.>]){name}\b", value.replace("\\", r"\\"), condition)
    insertions = before_statement(source.text, site.place, f"assert({condition});")
    if not insertions:
        raise Obstacle(f"the launch at line {site.place.line} is no statement of its own")
    checks = tuple(Edit(insertion.place, insertion.text) for insertion in insertions)
    has_assert = re.search(r'#[ \t]*include[ \t]*[<"]assert\.h[>"]', source.text) is not None
    return (*(() if has_assert else included(site.place.path, source, ["cassert"])), *checks)


def _arguments(
    kernel: KernelFacts, launch: Place, source: CodeText, text_of: Callable[[str], str]
) -> dict[str, str]:
    """What a launch `kernel<<<...>>>(...)` gives for each parameter."""
    begin, end = source.extent(launch)
    closing = source.code.find(">>>", begin, end)
    opening = source.skip(closing + 3) if closing >= 0 else -1
    closed = source.close(opening) if opening >= 0 and source.code[opening] == "(" else None
    if closed is None:
        return {}
    arguments = (source.text[a:b].strip() for a, b in between_commas(source, opening + 1, closed - 1))
    named = zip(parameter_names(kernel, text_of), arguments, strict=False)
    return {name: argument for name, argument in named if name}
