"""CL602: expressions and variables of floats that are computed in double precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.facts import Arithmetic, KernelFacts, Place
from cudalint.launchkit import percent
from cudalint.rule import Rule, RuleContext

_NAMED = 3
"""Literals that the message lists."""


class ImplicitDouble(Rule):
    """A literal without a suffix, or a variable, that makes an expression of floats one of doubles.

    What it does
        Looks for values of less than double precision that are converted to double only because a literal beside them
        has no `f`, or because a function of the library is called with such a literal, and whose result is made a
        float or an integer again, or compared; and for variables that are declared as double into which only such
        values flow, and out of which nothing else comes. Reports them where conversions and arithmetic in double
        precision are more than the threshold of what a warp executes in the kernel. Edits put the suffixes, throughout
        a function at once; as they change how numbers are rounded, they are never safe, and there are none for a
        literal that a template may use with doubles.

    Why is this bad
        `x * 0.1` converts `x` to double, multiplies doubles and converts the result: three instructions for one. A
        conversion to or from double runs at a quarter of the rate of float arithmetic or less, a multiplication of
        doubles at half of it on an A100 or H100 and at 1/64 on an L40S or a consumer's GPU. A function such as `exp`
        takes 45 instructions for a double and 10 for a float.

    Example
        float y = x * 0.1 + 1.0;

    Use instead
        float y = x * 0.1f + 1.0f;

    What is not reported
        - What nvcc computes in single precision all the same: one sum, difference, product or quotient with a literal
          that is a float's value exactly (`0.5 * x`, `x - 1.0`), and comparisons with one (`x > 0.5`).
        - Sums, products and whatever else of a variable goes on into itself: double precision keeps digits there that
          floats would lose. Copies, choices (`min`, `?:`) and averages (`(low + high) / 2`) lose none.
        - Expressions with an explicit conversion to double, or with numbers that are doubles in memory, of the host or
          of a function that somebody wrote: somebody asked for it.
    """

    code = "CL602"
    name = "implicit-double"
    severity = "warning"
    summary = "a literal or a variable that makes an expression of floats one of doubles"
    by_hand = "the double is not spelled as a literal or a function of this file, or somebody may mean it"
    is_waste = True
    reads = frozenset({"arithmetic"})
    thresholds = {"share": 0.01}
    relative = ("share",)

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        from cudalint.fixes.float_edits import function_around

        least = self.limits(context)["share"]
        found = [
            (site, result, share)
            for site in kernel.arithmetic
            if site.kind in ("double", "variable")
            for result in site.results
            if result.instructions and (share := min(1.0, result.saved / result.instructions)) >= least
        ]
        edits = _edits([site for site, _, _ in found], context)
        for site, result, share in found:
            own = edits.get(site.place, ())
            before = {
                "wasted_share": share,
                "double_operations": result.doubles,
                "special_operations": result.special,
            }
            yield self.finding(
                kernel,
                place=site.place,
                message=_message(site, share),
                launches=(kernel.launches[result.launch],),
                assumptions=result.assumptions,
                figures=before,
                suggestion=Suggestion(
                    _suggestion(site), own, before=before, applicability="unsafe" if own else "display"
                ),
                causes=(f"doubles in {function_around(site.place, context.text_of)}",),
            )


def _edits(sites: Sequence[Arithmetic], context: RuleContext) -> dict[Place, tuple[Edit, ...]]:
    """The edits of each site: those of all sites of its function, which are tried and made at once."""
    from cudalint.fixes.float_edits import float_edits, function_around

    together: dict[tuple[str, int], dict[Place, tuple[Edit, ...]]] = {}
    for site in sites:
        own = float_edits(site.causes, context.text_of)
        if own:
            together.setdefault(function_around(site.place, context.text_of), {})[site.place] = own
    edits: dict[Place, tuple[Edit, ...]] = {}
    for each in together.values():
        unique = {edit.place: edit for own in each.values() for edit in own}
        edits |= dict.fromkeys(each, tuple(unique[place] for place in sorted(unique)))
    return edits


def _message(site: Arithmetic, share: float) -> str:
    names = ", ".join(f"`{name}`" for name in site.names[:_NAMED])
    are, them = ("is a double", "it") if len(site.names) == 1 else ("are doubles", "them")
    whole = "of what a warp executes in this kernel is conversions and arithmetic that floats don't take"
    if site.kind == "variable":
        return f"{names} {are}, and only floats go into {them} and come out of {them}: {percent(share)} {whole}"
    return f"{names} {are}, and with {them} an expression of floats: {percent(share)} {whole}"


def _suggestion(site: Arithmetic) -> str:
    if site.kind == "variable":
        return f"declare {', '.join(f'`{name}`' for name in site.names)} as `float`"
    return f"write {', '.join(dict.fromkeys(map(_as_float, site.names)))}"


def _as_float(name: str) -> str:
    """What to write for a literal, a macro, or a call of a function with a float and an integer."""
    if name[:1].isdigit() or name[:1] == ".":
        return f"`{name}f`"
    if name.endswith(")"):
        function = name.partition("(")[0].rpartition("::")[2]
        return f"`{function}f` for floats"
    return f"`float({name})`"
