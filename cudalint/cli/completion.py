"""What a shell offers when the user presses Tab. click makes the scripts; docs/shell-completion.md is for users."""

from __future__ import annotations

from click import Context, Parameter
from click.shell_completion import CompletionItem

from cudalint.kinds import SHOWN_KINDS


def files(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Leaves it to the shell, which knows files better."""
    return [CompletionItem(incomplete, type="file")]


def rules(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes, or names for who starts with small letters."""
    from cudalint.registry import all_rules

    by_name = incomplete[:1].islower() and not incomplete.lower().startswith("cl")
    pairs = [(rule.name if by_name else rule.code, rule) for rule in all_rules()]
    wanted = incomplete if by_name else incomplete.upper()
    return [CompletionItem(text, help=rule.summary) for text, rule in pairs if text.startswith(wanted)]


def rule_lists(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """The last rule of a list with commas; `ALL` is one too."""
    before, comma, last = incomplete.rpartition(",")
    found = [*rules(ctx, param, last), *([CompletionItem("ALL", help="every rule")] if "ALL".startswith(last) else [])]
    return [CompletionItem(f"{before}{comma}{item.value}", help=item.help) for item in found]


def kinds(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """The last kind of facts of a list with commas."""
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{kind}") for kind in sorted(SHOWN_KINDS) if kind.startswith(last.lower())]


def targets(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    from cudalint.hardware.targets import target_names

    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(f"{before}{comma}{name}") for name in target_names() if name.startswith(last.lower())]


def formats_to_write(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """`FORMAT=`, behind which a file is named."""
    from cudalint.project.formats import FORMATS, PATCH

    return [CompletionItem(f"{name}=") for name in (*FORMATS, PATCH) if name.startswith(incomplete)]


def thresholds(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """`RULE.NAME=` with the value that is in force by default behind it."""
    from cudalint.registry import all_rules

    known = [(f"{rule.name}.{name}=", value) for rule in all_rules() for name, value in rule.thresholds.items()]
    return [CompletionItem(text, help=f"{value:g} by default") for text, value in known if text.startswith(incomplete)]
