"""Files for which others of the same folder stand."""

from __future__ import annotations

from pathlib import Path

from cudalint.project.discovery import discover
from cudalint.project.families import stood_for


def _texts(lines: dict[str, str], before: str = '#include "../k.cuh"\n') -> dict[str, bytes]:
    return {f"inst/{name}.cu": (before + text).encode() for name, text in lines.items()}


def test_each_argument_is_in_a_file_that_is_looked_at() -> None:
    types = ("F16", "Q4", "Q5", "Q8")
    texts = _texts({f"{a}_{b}": f"// made by a script\nDECLARE( {a}, {b} );\n" for a in types for b in types})
    left = [text.decode() for path, text in texts.items() if path not in stood_for(texts)]
    assert len(left) == 4
    assert all(any(word in text for text in left) for a in types for word in (f"( {a},", f", {a} )"))


def test_numbers_in_includes_and_calls_without_semicolons_count() -> None:
    lines = {str(n): f'#include "unit_{n}.cuh"\nMAKE(/* width */ {n}, 4)' for n in range(1, 9)}
    assert stood_for(_texts(lines)) == {f"inst/{n}.cu" for n in (2, 4, 5, 6, 7)}


def test_several_calls_of_one_macro_are_one_family() -> None:
    lines = {str(n): "".join(f"DECLARE(64, {m});\n" for m in range(1, n + 1)) for n in range(1, 9)}
    texts = _texts(lines)
    left = {path for path in texts if path not in stood_for(texts)}
    # DECLARE(64, 1) is in all of them, 3 in all from the third on, and 8 in the last one only.
    assert left == {"inst/1.cu", "inst/3.cu", "inst/8.cu"}


def test_code_of_its_own_or_other_includes_are_no_family() -> None:
    body = {str(n): f"__global__ void k{n}() {{ }}" for n in range(9)}
    assert stood_for(_texts(body)) == set()
    texts = {f"inst/{n}.cu": f'#include "{word}.h"\nDECLARE({n});'.encode() for n, word in enumerate("abcdefghi")}
    assert stood_for(texts) == set()
    assert stood_for({"a.cu": b"", "b.cu": b"\xff\x00" * 99, "c.cu": b"(" * 10_000}) == set()


def test_a_folder_is_sampled_on_demand_and_a_named_file_never(tmp_path: Path) -> None:
    for n in range(1, 9):
        (tmp_path / f"unit_{n}.cu").write_text(f'#include "k.cuh"\nDECLARE({n});\n')
    assert len(discover([str(tmp_path)]).files) == 8
    found = discover([str(tmp_path)], by_samples=True)
    assert [Path(file.path).name for file in found.files] == ["unit_1.cu", "unit_3.cu", "unit_8.cu"]
    assert found.not_linted == (("further instantiating file", 5),)
    named = discover([str(tmp_path / f"unit_{n}.cu") for n in range(1, 9)], by_samples=True)
    assert len(named.files) == 8
