"""Other programs that are run: where they are looked for, and with which folders for those that they run in turn."""

from __future__ import annotations

import os
import shutil


def tool(name: str) -> str | None:
    """A program by its name, in the folders of PATH that are absolute: `.` may be anybody's repository."""
    found = shutil.which(name, path=safe_path())
    return found if found is not None and os.path.isabs(found) else None


def tool_at(path: str) -> str | None:
    """A program at a path that the user has given."""
    return shutil.which(os.path.abspath(path))


def safe_path() -> str:
    """PATH without its relative folders."""
    return os.pathsep.join(folder for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder))


def safe_environment() -> dict[str, str]:
    """The environment for a program that looks for others itself."""
    return {**os.environ, "PATH": safe_path()}
