"""CL904: what no compiler takes."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic
from cudalint.facts import KernelFacts, Place
from cudalint.kinds import NO_KIND
from cudalint.report.findings.gaps import invalid_lines
from cudalint.rule import Rule, RuleContext

_MOST_ERRORS = 20
"""Lines that are listed; a text that is no source at all has hundreds."""


class InvalidCode(Rule):
    """A syntax error, or a name inside a kernel that nothing declares.

    What it does
        Reports a line that no compiler of CUDA takes: a missing semicolon or bracket, in a kernel or outside, or a name
        in a kernel that nothing declares although every include was found. Only what is certain is reported: in a `.cu`
        file, or a kernel's text in Python, and not where a macro of the build, or a name of CUDA's own that it may not
        know could make code of it. In Python that goes for syntax errors in what stands there word by word. What is
        doubtful, and what comes behind something doubtful, stays a matter of [CL902](CL902-incomplete-analysis.md), and
        so do names in templates that nothing instantiates: compilers differ about which they look up.

        Where an include was not found, or only cudalint's stand-in for it was, any word that nothing declares may be a
        macro. A syntax error is reported then if its statement, the next word behind it and what encloses it have no
        such word (the head of a kernel may); a missing brace, if what it should enclose has none; and a brace too many,
        if nothing before it has one. It is not reported under a condition of the preprocessor, nor behind something
        doubtful in its function.

    Why is this bad
        The file doesn't compile, and what cudalint says of the rest of the kernel may be about another one than was
        meant.

    Example
        __global__ void scale(float *a, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x     // no semicolon
            if (i < n) a[i] *= 2;
        }

    Use instead
        __global__ void scale(float *a, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) a[i] *= 2;
        }
    """

    code = "CL904"
    name = "invalid-code"
    severity = "error"
    summary = "a syntax error, or an undeclared name inside a kernel"
    by_hand = "what the code should say is not known"
    reads = NO_KIND

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        yield from self._in(None, context)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        yield from self._in(kernel, context)

    def _in(self, kernel: KernelFacts | None, context: RuleContext) -> Iterator[Diagnostic]:
        for holder, problem in invalid_lines(context.file)[:_MOST_ERRORS]:
            if holder is not kernel:
                continue
            place = Place(problem.path, problem.line, problem.column, problem.line, problem.column)
            is_name = problem.kind in ("guessed", "undeclared", "undeclared-type")
            message = f"nothing declares `{problem.name}`" if is_name else f"syntax error: {problem.message}"
            yield self.finding(kernel, place=place, message=message)
