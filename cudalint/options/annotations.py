"""Annotations: what users tell the linter in comments of the source.

    // cudalint: launch(block = dim3(32, 8), grid = dim3(64, 64), shared = 4096)
    // cudalint: assume(K % 4 == 0, N >= 1024)
    // cudalint: allow(bank-conflict) -- measured: the conflict is hidden behind the loads

This module knows their form. What a launch or an assumption means is the evaluator's business, and which findings
an `allow` covers is that of `cudalint.options.suppressions`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, cast, get_args

from msgspec import Struct

from cudalint.options.expressions import (
    BinaryOp,
    CallOp,
    Expression,
    ExpressionError,
    NameRef,
    UnaryOp,
    parse_expression,
)
from cudalint.options.limits import problem_of_expression
from cudalint.regexes import regex
from cudalint.source.brackets import closing, outside
from cudalint.source.comments import Comment, CommentedSource, read_comments

AnnotationKind = Literal["launch", "assume", "allow", "allow-kernel", "allow-file"]

KINDS: tuple[str, ...] = get_args(AnnotationKind)
_LAUNCH_KEYS = ("block", "grid", "shared")


class AnnotationError(ValueError):
    """A `cudalint:` comment that has not the form of an annotation."""


class Annotation(Struct, frozen=True):
    kind: AnnotationKind
    arguments: tuple[str, ...]
    """The text of each argument: names of rules, C expressions, or `key = expression` for a launch."""
    reason: str | None
    """What stands after `--`."""
    line: int
    column: int
    end_line: int
    end_column: int
    """The annotation's own place; columns start at 1, count bytes, and the end is exclusive."""
    stands_alone: bool
    target_line: int
    """The line that it speaks of: its own, or the next line of code when it stands alone."""
    above_kernel: bool
    """The declaration that follows it says `__global__`. Only an `#if` can hide such a kernel from the analysis."""


class Malformed(Struct, frozen=True):
    """An annotation that can't be used, and why."""

    message: str
    line: int
    column: int
    end_line: int
    end_column: int


class SourceAnnotations(Struct, frozen=True):
    """All annotations of one source text, in its order."""

    annotations: tuple[Annotation, ...] = ()
    malformed: tuple[Malformed, ...] = ()


class LaunchExpressions(NamedTuple):
    """The parts of a `launch` annotation; those left out are None."""

    block: Expression
    grid: Expression | None
    shared: Expression | None


def annotations_of_kernel(
    annotations: Sequence[Annotation], kind: AnnotationKind, first_line: int, last_line: int
) -> list[Annotation]:
    """Those of one kind that stand above the kernel at these lines, or inside it."""
    return [a for a in annotations if a.kind == kind and first_line <= a.target_line <= last_line]


def launch_of(annotation: Annotation) -> LaunchExpressions:
    """The expressions of a `launch` annotation; those of well-formed annotations are known to parse."""
    parts = dict(_key_and_value(argument) for argument in annotation.arguments)
    if "block" not in parts:
        raise AnnotationError("`launch` needs a block: `launch(block = dim3(32, 8))`")
    return LaunchExpressions(parts["block"], parts.get("grid"), parts.get("shared"))


def assumptions_of(annotation: Annotation) -> tuple[Expression, ...]:
    """The conditions of an `assume` annotation."""
    return tuple(parse_assumption(argument) for argument in annotation.arguments)


def parse_assumption(text: str) -> Expression:
    """Parses a condition; raises `ExpressionError` where it is an expression but none that can be true or false."""
    expression = parse_expression(text)
    match expression:
        case BinaryOp(op="==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") | UnaryOp(op="!"):
            return expression
        case CallOp() | NameRef():
            return expression
    raise ExpressionError(f"`{text}` is not a condition; write one such as `K % 4 == 0`")


def read_annotations(source_text: str) -> SourceAnnotations:
    """Finds every `cudalint:` comment and parses it."""
    if "cudalint" not in source_text:
        # Nearly all files: spare them the lexer.
        return SourceAnnotations()
    source = read_comments(source_text)
    good: list[Annotation] = []
    bad: list[Malformed] = []
    for comment in source.comments:
        for directive in _directives(comment, source):
            parsed = _parse(directive)
            if isinstance(parsed, Annotation):
                good.append(parsed)
            else:
                bad.append(parsed)
    return SourceAnnotations(tuple(good), tuple(bad))


# --- from comments to directives ------------------------------------------------------------------


class _Directive(NamedTuple):
    """The text after `cudalint:` and its place."""

    text: str
    place: tuple[int, int, int, int]
    stands_alone: bool
    target_line: int
    above_kernel: bool


_START = regex(
    r"(?m)(?:\A/[/*][/*!]*<?|^[ \t]*\*?)[ \t]*"
    r"(?P<directive>cudalint(?::|(?=[ \t]+(?:launch|assume|allow(?:-kernel|-file)?)[ \t]*\()))"
)
"""What looks like an annotation but for its colon is one that somebody meant."""


def _directives(comment: Comment, source: CommentedSource) -> Iterator[_Directive]:
    """Each line of a comment that starts with `cudalint:` opens one, which reaches to the next or the end."""
    starts = [match.start("directive") for match in _START.finditer(comment.text)]
    if not starts:
        return
    end_of_text = len(comment.text) - (2 if comment.text.startswith("/*") and comment.text.endswith("*/") else 0)
    for start, end in zip(starts, [*starts[1:], end_of_text], strict=True):
        spelled = comment.text[start:end].rstrip().rstrip("*").rstrip()
        first, last = comment.start + start, comment.start + start + len(spelled)
        target, above_kernel = comment.line, False
        if comment.stands_alone:
            target = source.next_code_line(comment.end_line) or comment.end_line
            above_kernel = "__global__" in source.declaration_at(target)
        text = re.sub(r"\s*\n[ \t]*(?:\*(?!/))?\s*", " ", spelled.removeprefix("cudalint:"))
        place = source.position(first) + source.position(last)
        yield _Directive(text.strip(), place, comment.stands_alone, target, above_kernel)


# --- from directives to annotations ---------------------------------------------------------------

_HEAD = regex(r"(?P<kind>[A-Za-z][\w-]*)\s*(?P<open>\()?")


def _parse(directive: _Directive) -> Annotation | Malformed:
    try:
        return _parsed(directive)
    except (AnnotationError, ExpressionError) as error:
        return Malformed(str(error), *directive.place)


def _parsed(directive: _Directive) -> Annotation:
    if directive.text.startswith("cudalint"):
        kind = directive.text.split()[1].partition("(")[0]
        raise AnnotationError(f"a colon is missing: `cudalint: {kind}(...)`")
    head = _HEAD.match(directive.text)
    if head is None or head["kind"] not in KINDS:
        name = f"`{head['kind'] if head else directive.text}`" if directive.text else "nothing"
        raise AnnotationError(f"{name} is no annotation; there are {', '.join(KINDS[:-1])} and {KINDS[-1]}")
    kind = cast(AnnotationKind, head["kind"])
    if head["open"] is None:
        raise AnnotationError(f"`{kind}` needs its arguments in parentheses")
    end = closing(directive.text, head.end() - 1, "()")
    if end is None:
        raise AnnotationError("a closing parenthesis is missing")
    arguments = tuple(split_arguments(directive.text[head.end() : end - 1]))
    reason = _reason(directive.text[end:])
    about = directive.stands_alone, directive.target_line, directive.above_kernel
    annotation = Annotation(kind, arguments, reason, *directive.place, *about)
    _validate(annotation)
    return annotation


def split_arguments(text: str) -> list[str]:
    """Splits at the commas that stand outside of brackets."""
    borders = [-1, *outside(text, ",", 0, len(text)), len(text)]
    return [text[begin + 1 : end].strip() for begin, end in itertools.pairwise(borders)] if text.strip() else []


def _reason(tail: str) -> str | None:
    """What follows the parentheses: nothing, or `--` and a reason."""
    tail = tail.strip()
    if not tail:
        return None
    if not tail.startswith("--"):
        raise AnnotationError(f"`{tail}` after the annotation means nothing; a reason starts with `--`")
    return tail[2:].strip() or None


def _validate(annotation: Annotation) -> None:
    if not annotation.arguments or not all(annotation.arguments):
        raise AnnotationError(f"`{annotation.kind}` has an empty argument")
    if annotation.kind == "launch":
        _validate_launch(launch_of(annotation))
    elif annotation.kind == "assume":
        assumptions_of(annotation)
    elif annotation.reason is None:
        spelled = f"{annotation.kind}({', '.join(annotation.arguments)})"
        raise AnnotationError(f"`{spelled}` gives no reason; write `{spelled} -- why this is fine`")


def _validate_launch(launch: LaunchExpressions) -> None:
    for name, expression in launch._asdict().items():
        problem = problem_of_expression(name, expression) if expression is not None else None
        if problem:
            raise AnnotationError(f"`launch` is not possible: its {name} {problem}")


def _key_and_value(argument: str) -> tuple[str, Expression]:
    match = re.fullmatch(r"(\w+)\s*=(?!=)\s*(.*)", argument, re.DOTALL)
    if match is None or match[1] not in _LAUNCH_KEYS:
        raise AnnotationError(f"`{argument}` is no part of a launch; there are `block =`, `grid =` and `shared =`")
    return match[1], parse_expression(match[2])
