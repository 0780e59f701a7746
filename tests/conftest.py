"""Tests run the program on files that they make themselves: nothing of that belongs in a user's cache of results."""

from __future__ import annotations

import os

os.environ["CUDALINT_NO_CACHE"] = "1"
