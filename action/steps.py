"""What the steps of the GitHub action do: `python steps.py identify`, then `install`, `lint` and `compare`.

Inputs come in environment variables and go to programs as arguments, one by one: no shell ever reads them, and the
expressions of GitHub are put into nothing that is executed. Nor does Python look for modules in the current folder,
which is that of whoever asks for a change. Its own library has to do; cudalint is not there yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
_FALSE = ("", "false")
COUNTS = ("errors", "warnings", "infos")
NO_LAUNCHES = "none"
"""In the place of files: those that would be found are not used."""


class InputError(ValueError):
    """An input of the action that can't be used."""


def identify(environment: dict[str, str]) -> int:
    """Says which program it will be, for the name of its folder and of what is kept of it."""
    version = _version(environment)
    python = ".".join(map(str, sys.version_info[:3]))
    program = version or _digest(Path(environment["GITHUB_ACTION_PATH"]))
    compiler = "-ptxas" if is_set(environment, "CUDALINT_PTXAS") else ""
    write_outputs(environment["GITHUB_OUTPUT"], {"key": f"{program}-python-{python}{compiler}"})
    return 0


def _digest(source: Path) -> str:
    """Of all that is installed from here."""
    files = [source / "pyproject.toml", source / "setup.py", *source.glob("cudalint/**/*"), *source.glob("rules/**/*")]
    found = hashlib.sha256()
    for file in sorted(file for file in files if file.is_file() and file.suffix != ".pyc"):
        found.update(file.relative_to(source).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()[:20]


def _version(environment: dict[str, str]) -> str:
    version = environment.get("CUDALINT_VERSION", "").strip()
    if version and not _VERSION.fullmatch(version):
        raise InputError(f"`version` is `{version}`, and has to be one such as 0.1.0")
    return version


def install(environment: dict[str, str]) -> int:
    """Puts cudalint into a folder of its own, unless the cache had it there: the version that the workflow asks for,
    or else the one whose action this is."""
    folder, version = environment["CUDALINT_FOLDER"], _version(environment)
    put_on_path(environment)
    if os.path.exists(os.path.join(folder, "cudalint", "__init__.py")):
        return 0
    extra = "[ptxas]" if is_set(environment, "CUDALINT_PTXAS") else ""
    source = f"cudalint{extra}=={version}" if version else f"{environment['GITHUB_ACTION_PATH']}{extra}"
    options = ["--quiet", "--disable-pip-version-check", "--target", folder]
    return subprocess.run([sys.executable, "-P", "-m", "pip", "install", *options, source], check=False).returncode


def put_on_path(environment: dict[str, str]) -> None:
    """Has later steps of the job find `cudalint`: a script beside the program, which is no part of what is cached."""
    folder = Path(environment["CUDALINT_BIN"])
    folder.mkdir(parents=True, exist_ok=True)
    program, python = environment["CUDALINT_FOLDER"], sys.executable
    script = folder / "cudalint"
    command = f'{shlex.quote(python)} -m cudalint "$@"'
    script.write_text(
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(program)} PYTHONSAFEPATH=1 exec {command}\n",
        encoding="utf-8", newline="\n",
    )  # fmt: skip
    script.chmod(0o755)
    if os.name == "nt":
        # For the shells of Windows, which know nothing of scripts for `sh`.
        (folder / "cudalint.cmd").write_text(
            f'@set "PYTHONPATH={program}"\n@set PYTHONSAFEPATH=1\n@"{python}" -m cudalint %*\n', encoding="utf-8"
        )
    with open(environment["GITHUB_PATH"], "a", encoding="utf-8") as file:
        file.write(f"{folder}\n")


def lint(environment: dict[str, str]) -> int:
    """Lints, and says what came of it in the step's outputs. The exit status is that of cudalint."""
    reports = Path(environment["CUDALINT_REPORTS"])
    reports.mkdir(parents=True, exist_ok=True)
    for old in reports.glob("cudalint.*"):
        old.unlink()
    outputs = {"report": str(reports)}
    sarif = sarif_file(environment, reports)
    if sarif:
        outputs["sarif"] = sarif
    command = [sys.executable, "-m", "cudalint", "check", *arguments(environment, reports)]
    where = {"PYTHONPATH": environment["CUDALINT_FOLDER"], "PYTHONSAFEPATH": "1"}
    status = subprocess.run(command, env={**environment, **where}, check=False).returncode
    outputs |= {"status": str(status), **counts(reports / "cudalint.json")}
    write_outputs(environment["GITHUB_OUTPUT"], outputs)
    return status


def compare(environment: dict[str, str]) -> int:
    """Compares the kernels of a pull request with those before it, where a comment is wanted or there are gates, and
    comments. It fails for gates alone: those that fail, and those that can't be checked."""
    gates = lines(environment.get("CUDALINT_GATES", ""))
    wants_comment = is_set(environment, "CUDALINT_COMMENT")
    if not wants_comment and not gates:
        return 0
    # Beside this file, which is where Python looks first.
    from pull_request import NoComparison, NoPullRequest, comment, compared, say

    options = launches(words(environment.get("CUDALINT_LAUNCHES", ""), "launches"))
    options += compiling(environment)
    options += words(environment.get("CUDALINT_COMMENT_ARGS", ""), "comment-args")
    paths = words(environment.get("CUDALINT_PATHS", ""), "paths")
    try:
        request, comparison = compared(environment, paths, options, gates)
    except NoPullRequest as reason:
        say(str(reason))
        return 0
    except NoComparison as reason:
        say(str(reason), is_failure=bool(gates))
        return 2 if gates else 0
    if wants_comment:
        try:
            sys.stdout.write(f"cudalint: {comment(environment, paths, request, comparison)}\n")
        except NoComparison as reason:
            say(str(reason))
    return comparison.status if gates else 0


def lines(text: str) -> list[str]:
    """What stands in lines of its own."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def arguments(environment: dict[str, str], reports: Path) -> list[str]:
    """The command line. What the workflow's author gives in `args` comes last, and so has the last word."""
    found = ["--format", "github"]
    found += ["--output", f"json={reports / 'cudalint.json'}", "--output", f"text={reports / 'cudalint.txt'}"]
    sarif = sarif_file(environment, reports)
    if sarif:
        found += ["--output", f"sarif={sarif}"]
    base = environment.get("GITHUB_BASE_REF", "")
    if base and is_set(environment, "CUDALINT_CHANGED_ONLY"):
        found += [f"--diff=origin/{base}"]
    found += launches(words(environment.get("CUDALINT_LAUNCHES", ""), "launches"))
    found += compiling(environment)
    found += words(environment.get("CUDALINT_ARGS", ""), "args")
    return [*found, "--", *words(environment.get("CUDALINT_PATHS", ""), "paths")]


def launches(files: Sequence[str]) -> list[str]:
    """Options for recorded launches; cudalint finds the usual file where nothing is said."""
    return ["--no-launches"] if list(files) == [NO_LAUNCHES] else [f"--launches={file}" for file in files]


def compiling(environment: dict[str, str]) -> list[str]:
    return ["--ptxas"] if is_set(environment, "CUDALINT_PTXAS") else []


def sarif_file(environment: dict[str, str], reports: Path) -> str | None:
    """Where the SARIF report goes; None if nobody wants one."""
    given = environment.get("CUDALINT_SARIF", "").strip()
    if given:
        return os.path.abspath(given)
    return str(reports / "cudalint.sarif") if is_set(environment, "CUDALINT_UPLOAD_SARIF") else None


def is_set(environment: dict[str, str], name: str) -> bool:
    text = environment.get(name, "").strip().lower()
    if text not in (*_FALSE, "true"):
        raise InputError(f"`{name.removeprefix('CUDALINT_').lower().replace('_', '-')}` has to be true or false")
    return text not in _FALSE


def words(text: str, name: str) -> list[str]:
    """Words that spaces and lines part; quotes keep spaces, as they do in a shell. Nothing else means anything."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"`{name}` can't be taken apart: {error}") from None


def counts(report: Path) -> dict[str, str]:
    """How many findings of each severity there are; nothing where there is no report."""
    try:
        summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
        return {name: str(int(summary[name])) for name in COUNTS}
    except (OSError, ValueError, KeyError):
        return {}


def write_outputs(path: str, outputs: dict[str, str]) -> None:
    """A value of several lines would be several outputs, so it is none."""
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(_lines(outputs))


def _lines(outputs: dict[str, str]) -> Iterator[str]:
    for name, value in outputs.items():
        if value.isprintable():
            yield f"{name}={value}\n"


_STEPS = {"identify": identify, "install": install, "lint": lint, "compare": compare}


def main(step: Sequence[str]) -> int:
    environment = dict(os.environ)
    try:
        return _STEPS[step[0]](environment)
    except InputError as error:
        sys.stdout.write(f"::error title=cudalint::{error}\n".replace("%", "%25"))
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
