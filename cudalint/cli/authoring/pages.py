"""The documentation pages of rules, made from each rule's docstring and from its example.

A docstring is one sentence and then sections: a heading at the margin, its text below it and indented. An example is
the file `examples/<rule>.cu` beside the module of the rule: a program with the fault and without it, on which the page
shows what cudalint says. It is a fixture as well: its `// expect:` comments are tested, and not shown.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from importlib import resources

from msgspec import Struct

from cudalint.guide import named
from cudalint.options.analysis import DEFAULT_TARGET
from cudalint.regexes import regex
from cudalint.registry import RuleClass
from cudalint.report.formats.presentation import Presentation
from cudalint.report.formats.style import Style

_EXAMPLES = "examples"
_CODE_SECTIONS = ("Example", "Use instead")
_EXPECTATION = regex(r"[ \t]*//[ \t]*(?:todo-)?expect:[^\n]*")
_CODE_LINE = regex(r"[;{}]\s*(?://.*)?$|^\s*(?://|#|cudalint )|^\s*\w[\w:]*.*\)\s*$|^\s*\.\.\.$", re.MULTILINE)
_HEADING_WORDS = 8

FAMILIES = (
    ("CL1", "Global memory"),
    ("CL2", "Shared memory"),
    ("CL3", "Synchronisation"),
    ("CL4", "Branches"),
    ("CL5", "Launches"),
    ("CL6", "Arithmetic and registers"),
    ("CL7", "Host code"),
    ("CL8", "Memory in host code"),
    ("CL9", "Annotations and the analysis itself"),
)


class Section(Struct, frozen=True):
    heading: str
    """Empty for text that stands under no heading."""
    text: str

    @property
    def is_code(self) -> bool:
        """Examples are code, unless they say in words what to do."""
        return self.heading in _CODE_SECTIONS and _CODE_LINE.search(self.text) is not None


class Page(Struct, frozen=True):
    lead: str
    sections: tuple[Section, ...]


def page_of(rule: RuleClass) -> Page:
    """The parts of a rule's docstring."""
    lead, _, rest = inspect.cleandoc(rule.__doc__ or f"{rule.summary}.").partition("\n\n")
    sections: list[Section] = []
    heading = ""
    for block in _blocks(rest):
        first, _, below = block.partition("\n")
        if _is_heading(first, below):
            heading = first
            sections.append(Section(heading, inspect.cleandoc(f"\n{below}")))
        elif block[0].isspace() and sections:
            # A further paragraph of the section.
            indented = inspect.cleandoc(f"\n{block}")
            last = sections[-1]
            sections[-1] = Section(last.heading, f"{last.text}\n\n{indented}")
        else:
            sections.append(Section("", block))
    return Page(" ".join(lead.split()), tuple(part for section in sections for part in _split(section)))


def _blocks(text: str) -> Iterator[str]:
    for block in re.split(r"\n{2,}", text):
        if block.strip():
            yield block.rstrip()


def _is_heading(line: str, below: str) -> bool:
    return not line[:1].isspace() and len(line.split()) <= _HEADING_WORDS and below[:1].isspace()


def _split(section: Section) -> Iterator[Section]:
    """Prose that follows the code of an example, within its section."""
    paragraphs = section.text.split("\n\n")
    if not section.is_code or len(paragraphs) == 1:
        yield section
        return
    prose = next((i for i, text in enumerate(paragraphs) if i and not _CODE_LINE.search(text)), len(paragraphs))
    yield Section(section.heading, "\n\n".join(paragraphs[:prose]))
    if paragraphs[prose:]:
        yield Section("", "\n\n".join(paragraphs[prose:]))


# --- examples -----------------------------------------------------------------------------------------


def example_of(rule: RuleClass) -> str | None:
    """The program that shows the rule, without the comments that its test reads."""
    package, _, module = rule.__module__.rpartition(".")
    try:
        file = resources.files(package or module).joinpath(_EXAMPLES, _example_name(rule))
        text = file.read_text(encoding="utf-8")
    except (OSError, ModuleNotFoundError, TypeError):
        return None  # The package brings no example for it, or is no folder.
    return _EXPECTATION.sub("", text)


def _example_name(rule: RuleClass) -> str:
    return f"{rule.name}.cu"


def findings_in(rule: RuleClass, source: str, style: Style, most: int | None = None) -> Iterator[str]:
    """What the rule says about a program, as the terminal shows it, with pictures."""
    from cudalint.options.analysis import AnalysisOptions
    from cudalint.registry import Selection
    from cudalint.report.findings.merging import gather
    from cudalint.report.findings.results import CheckResult, FileReport
    from cudalint.report.findings.sources import SourceLines
    from cudalint.report.formats import text
    from cudalint.run.file_findings import check_file
    from cudalint.run.job import CheckJob

    path = _example_name(rule)
    options = AnalysisOptions(unsaved=((path, source),))
    report = check_file(CheckJob(path, options, Selection(select=_selected(rule)), pictures=True))
    if not isinstance(report, FileReport):
        return
    found = [diagnostic for diagnostic in gather([report]) if diagnostic.code == rule.code][:most]
    shown = Presentation(style, pictures=None, quiet=True)
    lines = list(text.render(CheckResult(DEFAULT_TARGET, tuple(found)), SourceLines({path: source}), shown))
    yield from lines[:-1] if lines and not lines[-1] else lines


def _selected(rule: RuleClass) -> tuple[str, ...]:
    """A rule about suppressions says nothing unless the rules that they name have run."""
    return ("ALL",) if _is_about_comments(rule) else (rule.code,)


def _is_about_comments(rule: RuleClass) -> bool:
    from cudalint.rule import AnnotationRule

    return issubclass(rule, AnnotationRule)


# --- Markdown -----------------------------------------------------------------------------------------


def markdown(rule: RuleClass) -> str:
    """The page of a rule as a file of the documentation."""
    parts = [f"# {rule.code}: {rule.name}", _standing(rule)]
    page = page_of(rule)
    parts.append(page.lead)
    for section in page.sections:
        if section.heading:
            parts.append(f"## {section.heading}")
        parts.append(_fenced(section.text, "cuda") if section.is_code else section.text)
    parts += _shown_example(rule)
    parts += _in_the_guide(rule)
    parts += _thresholds(rule)
    parts += _suppression(rule)
    return "\n\n".join(parts) + "\n"


def _standing(rule: RuleClass) -> str:
    default = "on by default" if rule.on_by_default else f"off by default; `--extend-select {rule.code}` turns it on"
    return f"*{rule.severity}, {default}*"


def _shown_example(rule: RuleClass) -> Iterator[str]:
    source = example_of(rule)
    if source is None:
        return
    yield "## In a program"
    yield _fenced(source.strip("\n"), "cuda")
    lines = [line.rstrip() for line in findings_in(rule, source, Style())]
    if lines:
        select = "" if rule.on_by_default else f" --extend-select {rule.code}"
        yield _fenced("\n".join([f"$ cudalint --show{select} {_example_name(rule)}", *lines]), "console")


def _in_the_guide(rule: RuleClass) -> Iterator[str]:
    if not rule.guide:
        return
    yield "## In the guide"
    pages = (named(name) for name in rule.guide)
    yield "\n".join(f"- [{page.title}](../guide/{page.name}.md)" for page in pages)


def _thresholds(rule: RuleClass) -> Iterator[str]:
    if not rule.thresholds:
        return
    yield "## Options"
    yield "From which figures on the rule reports:"
    rows = [f"| `{name}` | {value:g} |" for name, value in rule.thresholds.items()]
    yield "\n".join(["| option | default |", "|---|---|", *rows])
    name, value = next(iter(rule.thresholds.items()))
    yield _fenced(f'[tool.cudalint.thresholds.{rule.name}]\n{name} = {value:g}', "toml")
    yield f"On the command line, `--threshold {rule.name}.{name}={value:g}` says the same."


def _suppression(rule: RuleClass) -> Iterator[str]:
    yield "## How to suppress it"
    comments = suppressions(rule)
    if comments:
        rows = [f"| `{comment}` | {where} |" for comment, where in comments]
        yield "\n".join(["| comment | where |", "|---|---|", *rows])
        yield "The reason after `--` is mandatory."
    configuration, baseline = "configuration", "baseline"
    if _is_built_in(rule):
        configuration = "[configuration](../configuration.md)"
        baseline = "[baseline](../continuous-integration.md#old-code)"
    yield (
        f'`ignore = ["{rule.code}"]` in the {configuration} turns the rule off for a project, `per-file-ignores` for\n'
        f"some of its files; a {baseline} keeps what is there already."
    )


def _is_built_in(rule: RuleClass) -> bool:
    """Whether the page stands beside cudalint's other documentation."""
    return rule.__module__.startswith("cudalint.rules.")


def suppressions(rule: RuleClass) -> Sequence[tuple[str, str]]:
    """The comments that suppress the rule, and where they stand. What is said about comments, none can suppress."""
    if _is_about_comments(rule):
        return ()
    return (
        (f"// cudalint: allow({rule.name}) -- why this is fine", "at the end of the line, or alone above it"),
        (f"// cudalint: allow-kernel({rule.name}) -- why this is fine", "above a kernel, for all of it"),
        (f"// cudalint: allow-file({rule.name}) -- why this is fine", "anywhere, for the whole file"),
    )


def _fenced(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"


def index(rules: Sequence[RuleClass]) -> str:
    """The list of all pages."""
    parts = ["# Rules", "One page for each rule; `cudalint explain CODE` shows it in the terminal."]
    left = list(rules)
    for prefix, title in (*FAMILIES, ("", "Others")):
        family = [rule for rule in left if rule.code.startswith(prefix)]
        left = [rule for rule in left if rule not in family]
        if family:
            rows = [
                f"| [{rule.code}]({file_name(rule)}) | {rule.name} | {rule.severity} | "
                f"{'on' if rule.on_by_default else 'off'} | {rule.summary} |"
                for rule in family
            ]
            head = ["| code | name | severity | default | |", "|---|---|---|---|---|"]
            parts += [f"## {title}", "\n".join([*head, *rows])]
    return "\n\n".join(parts) + "\n"


def file_name(rule: RuleClass) -> str:
    return f"{rule.code}-{rule.name}.md"


INDEX_NAME = "README.md"


def all_pages(rules: Sequence[RuleClass]) -> Iterator[tuple[str, str]]:
    """Name and text of each file."""
    for rule in rules:
        yield file_name(rule), markdown(rule)
    yield INDEX_NAME, index(rules)
