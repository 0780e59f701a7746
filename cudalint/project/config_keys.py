"""The keys of a configuration file: one reader for each, which checks its value. All that they raise is ConfigError."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from cudalint.diagnostics import Severity
from cudalint.hardware.targets import find_target
from cudalint.options.analysis import KernelSettings, is_define, is_standard
from cudalint.project.config_entries import Entry, Names, RulesIgnored, hint, kind_of
from cudalint.project.config_paths import problem_of_read, problem_of_written, resolved
from cudalint.project.formats import FORMATS, OUTPUT_FORMATS
from cudalint.project.thresholds import check_threshold
from cudalint.registry import check_selectors
from cudalint.report.findings.results import SEVERITIES


def _target(entry: Entry) -> str:
    with entry.refused("names no GPU"):
        find_target(entry.text())
    return entry.text()


def _selectors(entry: Entry) -> Names:
    selectors = entry.texts()
    with entry.refused("names no rule"):
        check_selectors(selectors)
    return selectors


def _select(entry: Entry) -> Names:
    selectors = _selectors(entry)
    if not selectors:
        raise entry.error("is empty; without it, the rules run that are on by default")
    return selectors


def _per_file_ignores(entry: Entry) -> tuple[RulesIgnored, ...]:
    folder = os.path.dirname(os.path.abspath(entry.path))
    return tuple(RulesIgnored(_pattern(rules, pattern), _selectors(rules), folder) for pattern, rules in entry.items())


def _severity(entry: Entry) -> Severity:
    text = entry.text()
    for severity in SEVERITIES:
        if text == severity:
            return severity
    raise entry.error(f"is `{text}`, and has to be one of {', '.join(SEVERITIES)}")


def _severities(entry: Entry) -> tuple[tuple[str, Severity], ...]:
    found = []
    for selector, severity in entry.items():
        with severity.refused("names no rule"):
            check_selectors((selector,))
        found.append((selector, _severity(severity)))
    return tuple(found)


def _format(entry: Entry) -> str:
    if entry.text() not in FORMATS:
        raise entry.error(f"is `{entry.text()}`, and has to be one of {', '.join(FORMATS)}")
    return entry.text()


def _output(entry: Entry) -> tuple[tuple[str, str], ...]:
    folder = os.path.dirname(entry.path)
    found: list[tuple[str, str]] = []
    for format_, path in entry.items():
        known = next((entry for name, entry in OUTPUT_FORMATS.items() if name == format_), None)
        if known is None:
            raise path.error(f"is no format; {hint(format_, FORMATS)}")
        problem = problem_of_written(folder, path.text(), known.endings)
        if problem is not None:
            raise path.error(f"{problem}: {path.text()}")
        if any(os.path.realpath(resolved(folder, path.text())) == os.path.realpath(other) for _, other in found):
            raise path.error(f"names the file of another report: {path.text()}")
        found.append((format_, resolved(folder, path.text())))
    return tuple(found)


def read_path(entry: Entry) -> str:
    """The path of a file that is read."""
    folder = os.path.dirname(entry.path)
    problem = problem_of_read(folder, entry.text())
    if problem is not None:
        raise entry.error(f"{problem}: {entry.text()}")
    return resolved(folder, entry.text())


def _read_paths(entry: Entry) -> Names:
    return tuple(read_path(replace(entry, value=text)) for text in entry.texts())


def _share(entry: Entry) -> float:
    share = entry.number()
    if share > 1:
        raise entry.error("is a share, such as 0.01 for 1%, and more than 1")
    return share


def _jobs(entry: Entry) -> int:
    if isinstance(entry.value, bool) or not isinstance(entry.value, int) or entry.value < 1:
        raise entry.error("has to be a whole number that is at least 1")
    return entry.value


def _patterns(entry: Entry) -> Names:
    return tuple(_pattern(entry, text) for text in entry.texts())


def _pattern(entry: Entry, text: str) -> str:
    from cudalint.project.path_patterns import BAD_PATTERN, bad_pattern

    if bad_pattern((text,)) is not None:
        raise entry.error(f"has the pattern `{text}`, which {BAD_PATTERN}")
    return text


def _thresholds(entry: Entry) -> tuple[tuple[str, str, float], ...]:
    found = []
    for rule, settings in entry.items():
        for name, value in settings.items():
            with value.refused("is no threshold"):
                check_threshold(rule, name)
            found.append((rule, name, value.number()))
    return tuple(found)


def _folders(entry: Entry) -> Names:
    base = os.path.dirname(entry.path)
    return tuple(resolved(base, folder) for folder in entry.texts())


def _defines(entry: Entry) -> Names:
    for text in entry.texts():
        if not is_define(text):
            raise entry.error(f"has `{text}`, which has not the form NAME or NAME=VALUE")
    return entry.texts()


def _standard(entry: Entry) -> str:
    if not is_standard(entry.text()):
        raise entry.error("names no C++ standard; write one such as `c++17`")
    return entry.text()


def _assumptions(entry: Entry) -> Names:
    from cudalint.options.annotations import parse_assumption

    with entry.refused("can't be used"):
        for text in entry.texts():
            parse_assumption(text)
    return entry.texts()


# --- kernels -----------------------------------------------------------------------------------------------

_KERNEL_KEYS = ("block", "grid", "shared", "parameters")


def _kernels(entry: Entry) -> tuple[KernelSettings, ...]:
    return tuple(_kernel(pattern, settings) for pattern, settings in entry.items())


def _kernel(pattern: str, entry: Entry) -> KernelSettings:
    entries = entry.known_items(_KERNEL_KEYS)
    launch = {name: _launch_part(name, value) for name, value in entries.items() if name != "parameters"}
    if launch and "block" not in launch:
        raise entry.error("gives a launch without a `block`")
    parameters = entries.get("parameters")
    values = [(name, _expression(value)) for name, value in parameters.items()] if parameters else []
    line = entries["block"].line if launch else entry.line
    return KernelSettings(pattern, parameters=tuple(values), path=entry.path, line=line, **launch)


def _launch_part(name: str, entry: Entry) -> str:
    """`256`, `"32, 8"`, `[32, "TILE"]` or `"dim3(32, 8)"`, as one expression; shared memory is a single number."""
    from cudalint.options.annotations import split_arguments
    from cudalint.options.expressions import parse_expression
    from cudalint.options.limits import problem_of_expression, problem_of_texts

    if isinstance(entry.value, list):
        parts = [_expression(replace(entry, value=each)) for each in entry.value]
    else:
        parts = [_expression_text(entry, part) for part in split_arguments(_as_text(entry))]
    if len(parts) == 1:
        problem = problem_of_expression(name, parse_expression(parts[0]))
    else:
        problem = problem_of_texts(name, parts) if parts else "is empty"
    if problem:
        raise entry.error(problem)
    return parts[0] if len(parts) == 1 else f"dim3({', '.join(parts)})"


def _expression(entry: Entry) -> str:
    return _expression_text(entry, _as_text(entry))


def _as_text(entry: Entry) -> str:
    if isinstance(entry.value, (int, float)) and not isinstance(entry.value, bool):
        return str(entry.value)
    if isinstance(entry.value, str) and entry.value.strip():
        return entry.value.strip()
    raise entry.error(f"has to be a number or a C expression in a string, and is {kind_of(entry.value)}")


def _expression_text(entry: Entry, text: str) -> str:
    from cudalint.options.expressions import parse_expression

    with entry.refused("can't be used"):
        parse_expression(text)
    return text


EXTEND = "extend"

READERS: Mapping[str, Callable[[Entry], object]] = {
    "target": _target,
    "select": _select,
    "extend-select": _selectors,
    "ignore": _selectors,
    "per-file-ignores": _per_file_ignores,
    "thresholds": _thresholds,
    "exclude": _patterns,
    "respect-gitignore": Entry.flag,
    "include-dirs": _folders,
    "defines": _defines,
    "std": _standard,
    "assume": _assumptions,
    "kernels": _kernels,
    "launches": _read_paths,
    "only-recorded": Entry.flag,
    "severity": _severities,
    "min-share": _share,
    "fail-on": _severity,
    "format": _format,
    "output": _output,
    "baseline": read_path,
    "jobs": _jobs,
}

SETTINGS = (EXTEND, *READERS)
"""All keys."""
