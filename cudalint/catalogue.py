"""The built-in rules' codes and names, read from the names of their files: `rules/cl101_uncoalesced_access.py` is the
rule CL101, `uncoalesced-access`.

So command lines are checked without importing the rules.
"""

from __future__ import annotations

import importlib.util
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Final

BUILT_IN: Final = "cudalint.rules"
"""The package of the built-in rules."""


def _names() -> Iterator[tuple[str, str]]:
    package = importlib.util.find_spec(BUILT_IN)
    modules = pkgutil.iter_modules(package.submodule_search_locations) if package is not None else ()
    for module in modules:
        code, _, name = module.name.partition("_")
        yield code.upper(), name.replace("_", "-")


NAME_OF_CODE: Final[Mapping[str, str]] = dict(sorted(_names()))


def page_in(pages: str, code: str) -> str:
    """The address of a rule's page where `{page}` stands for it, or else in a folder; empty for no address, and for a
    rule of others."""
    name = NAME_OF_CODE.get(code)
    if not name or not pages:
        return ""
    page = f"{code}-{name}"
    return pages.replace("{page}", page) if "{page}" in pages else f"{pages}/{page}.md"


def hint(selector: str) -> str:
    """What a user may have meant by what is no rule's code or name."""
    import difflib

    close = difflib.get_close_matches(selector.lower(), NAME_OF_CODE.values(), 1)
    return f"did you mean `{close[0]}`?" if close else "`cudalint rules` lists them"
