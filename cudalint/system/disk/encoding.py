"""Texts as bytes and back: bytes that are not UTF-8 stay what they are, and columns count the same ones."""

from __future__ import annotations


def to_bytes(text: str) -> bytes:
    """The bytes that `to_text` made the text from."""
    return text.encode("utf-8", "surrogateescape")


def to_text(data: bytes) -> str:
    """A text in which bytes that are not UTF-8 stand for themselves."""
    return data.decode("utf-8", "surrogateescape")
