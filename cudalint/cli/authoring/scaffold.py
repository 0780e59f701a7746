"""The files of a new rule, for this repository and for packages of rules: a rule that works, to be made another."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.registry import ENTRY_POINT_GROUP, RuleClass, all_rules

_CODE = regex(r"[A-Z]{2,8}\d{3,4}")
_NAME = regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OWN_PREFIX = "CL"

_RULE = '''\
"""{code}: requests to global memory that move many sectors."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic
from cudalint.facts import KernelFacts
from cudalint.rule import Rule, RuleContext
from cudalint.rulekit import Evaluated, call_sites, count, evaluated, sectors


class {class_name}(Rule):
    """A request to global memory that moves many sectors.

    What it does
        Reports global loads, stores and atomics that touch more sectors per request than the threshold. (This is
        what `cudalint new-rule` wrote. Say here what the rule sees, and how it comes to its figure. What there is to
        see is in cudalint's docs/own-rules.md.)

    Why is this bad
        Say what it costs or what goes wrong, with the hardware's figure.

    Example
        float4 v = in[i];      // 16 sectors per request

    Use instead
        float v = in[i];       // 4 sectors per request
    """

    code = "{code}"
    name = "{name}"
    severity = "info"
    summary = "requests to global memory that move many sectors"
    on_by_default = False
    thresholds = {{"sectors": 8.0}}

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        limits = self.limits(context)
        for one in evaluated(kernel, "global"):
            if sectors(one.result).actual > limits["sectors"]:
                yield self._diagnostic(kernel, one)

    def _diagnostic(self, kernel: KernelFacts, one: Evaluated) -> Diagnostic:
        access, result, launch = one
        actual, ideal = sectors(result)
        return self.finding(
            kernel,
            place=access.place,
            message=f"{{count(actual, 'sector')}} per request to `{{access.array}}`",
            launches=(launch,),
            assumptions=result.assumptions,
            figures={{"sectors_per_request": actual, "ideal_sectors": ideal}},
            related=call_sites(access),
        )
'''

_EXAMPLE = """\
__global__ void many(const float4 *in, float *out)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];  // expect: {code} "16 sectors"
    out[i] = v.x + v.y + v.z + v.w;
}}

__global__ void few(const float *in, float *out)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}}

void run(const float4 *a, const float *b, float *out, int blocks)
{{
    many<<<blocks, 256>>>(a, out);
    few<<<blocks, 256>>>(b, out);
}}
"""

_FIXTURE = """\
// Every line on which the rule must find something says so, with a part of the message; lines without a comment
// must stay without a finding.

__global__ void cases(const float4 *vectors, const double *doubles, float *out)
{{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 v = vectors[i];  // expect: {code} "16 sectors per request to `vectors`"
    out[i] = v.x + v.y + v.z + v.w;
    out[i] += doubles[i];
}}

void run(const float4 *vectors, const double *doubles, float *out)
{{
    cases<<<64, 256>>>(vectors, doubles, out);
}}
"""

_PYPROJECT = """\
[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "{distribution}"
version = "0.1.0"
description = "Rules for cudalint"
requires-python = ">=3.11"
dependencies = ["cudalint"]

[project.optional-dependencies]
dev = ["mypy", "pytest"]

[project.entry-points."cudalint.rules"]
{package} = "{package}"

[tool.setuptools]
packages = ["{package}"]

[tool.setuptools.package-data]
"{package}" = ["examples/*.cu"]
"""

_TEST = '''\
"""Every fixture: what its comments expect is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.testing import differences_in

_ROOT = Path(__file__).parent.parent
_FIXTURES = [*sorted(_ROOT.glob("fixtures/*/*.cu")), *sorted(_ROOT.glob("{package}/examples/*.cu"))]


@pytest.mark.parametrize("fixture", _FIXTURES, ids=lambda path: path.parent.name + "/" + path.name)
def test_fixture(fixture: Path) -> None:
    rule = fixture.stem if fixture.parent.name == "examples" else fixture.parent.name
    assert differences_in(fixture, [rule]) == []
'''


class ScaffoldError(ValueError):
    """A rule that can't be begun, and why."""


class Project(Struct, frozen=True):
    """Where rules are written: this repository, or a package of rules."""

    folder: str
    package: str
    """What is imported."""
    package_folder: str
    is_own: bool
    """The folder is a checkout of cudalint."""
    is_new: bool

    @property
    def import_root(self) -> str:
        return os.path.dirname(os.path.join(self.folder, self.package_folder))


def rules_of(project: Project) -> tuple[RuleClass, ...]:
    """The rules that a package brings along, of those that are installed."""
    return tuple(rule for rule in all_rules() if rule.__module__.startswith(f"{project.package}."))


def check_rule(code: str, name: str) -> None:
    """Raises ScaffoldError for a code or a name that no rule can have, or that one has."""
    if not _CODE.fullmatch(code):
        raise ScaffoldError(f"`{code}` is no code; one has capital letters and three or four digits, such as ACME101")
    if not _NAME.fullmatch(name):
        raise ScaffoldError(f"`{name}` is no name; one has small letters, digits and hyphens, such as wide-request")
    for rule in all_rules():
        if code == rule.code or name == rule.name:
            raise ScaffoldError(f"there is a rule {rule.code}, {rule.name}")


def project_in(folder: str) -> Project:
    """What a folder is; one that is empty or doesn't exist becomes a package of rules. Raises ScaffoldError."""
    if not os.path.exists(folder) or (os.path.isdir(folder) and not os.listdir(folder)):
        package = re.sub(r"\W+", "_", os.path.basename(os.path.abspath(folder))).lower()
        if not package.isidentifier():
            raise ScaffoldError(f"{folder}: a package of that name can't be imported")
        return Project(folder, package, package, is_own=False, is_new=True)
    path = os.path.join(folder, "pyproject.toml")
    settings = _settings(path)
    if settings.get("project", {}).get("name") == "cudalint":
        return Project(folder, "cudalint.rules", "rules", is_own=True, is_new=False)
    entries = settings.get("project", {}).get("entry-points", {}).get(ENTRY_POINT_GROUP, {})
    for package in entries.values():
        for parent in ("", "src"):
            inside = os.path.join(parent, *str(package).split("."))
            if os.path.isdir(os.path.join(folder, inside)):
                return Project(folder, str(package), inside, is_own=False, is_new=False)
    raise ScaffoldError(
        f'{path} names no package of rules; add `[project.entry-points."{ENTRY_POINT_GROUP}"]` with a line '
        "`my_rules = \"my_rules\"`, or name a new folder"
    )


def _settings(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise ScaffoldError(f"{path}: no such file, and the folder is not empty; name a new one") from None
    except (OSError, ValueError) as error:
        raise ScaffoldError(f"{path}: cannot be read: {error}") from None


def files_of(code: str, name: str, project: Project) -> Iterator[tuple[str, str]]:
    """Path, from the project's folder on, and text of each file to write."""
    package = project.package_folder
    if project.is_own and not code.startswith(_OWN_PREFIX):
        raise ScaffoldError(f"codes of cudalint's own rules start with {_OWN_PREFIX}")
    if not project.is_own and code.startswith(_OWN_PREFIX):
        raise ScaffoldError(f"codes that start with {_OWN_PREFIX} are cudalint's own; use letters of your own")
    class_name = "".join(part.capitalize() for part in name.split("-"))
    values = {
        "code": code, "name": name, "class_name": class_name, "package": project.package,
        "distribution": project.package.replace("_", "-"),
    }  # fmt: skip
    if project.is_new:
        yield "pyproject.toml", _PYPROJECT.format(**values)
        yield os.path.join(package, "__init__.py"), '"""Rules for cudalint, one module each."""\n'
        yield os.path.join("tests", "test_fixtures.py"), _TEST.format(**values)
    yield os.path.join(package, f"{module_name(code, name)}.py"), _RULE.format(**values)
    yield os.path.join(package, "examples", f"{name}.cu"), _EXAMPLE.format(**values)
    yield os.path.join("fixtures", name, "cases.cu"), _FIXTURE.format(**values)


def module_name(code: str, name: str) -> str:
    return f"{code.lower()}_{name.replace('-', '_')}"
