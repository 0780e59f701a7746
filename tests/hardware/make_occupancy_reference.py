"""Compare `occupancy` with NVIDIA's calculator on random configurations, and write a sample for the tests.

    python tests/hardware/make_occupancy_reference.py --include /usr/local/cuda/include

It needs g++ and the header `cuda_occupancy.h` of a CUDA toolkit, of which nothing is kept but the figures.
Exit status 1 if any configuration differs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from cudalint.hardware.occupancy import Setting, occupancy
from cudalint.hardware.targets import Target, find_target

HERE = Path(__file__).parent
ARCHITECTURES = [
    "sm_61", "sm_70", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120",
]  # fmt: skip
COLUMNS = [
    *["architecture", "threads", "registers", "static_shared", "dynamic_shared", "carveout"],
    *[
        "blocks",
        "blocks_without_opt_in",
        "limit_warps",
        "limit_blocks",
        "limit_registers",
        "limit_shared_memory",
    ],
]
# The calculator's way to say that a resource sets no limit.
INT_MAX = 2**31 - 1

# Its way to say that nobody asked for a carve-out.
NO_CARVEOUT = -1

Configuration = tuple[Target, int, int, int, int, int]


def random_configuration(rng: random.Random, target: Target) -> Configuration:
    """Draw threads, registers, static and dynamic bytes and a carve-out, as often at the edges as between them."""
    threads = rng.choice([32 * rng.randint(1, 32), rng.randint(1, 1024), rng.randint(1, 1100)])
    registers = rng.choice([rng.randint(0, 255), 8 * rng.randint(1, 32), rng.randint(16, 64)])
    most = target.shared_per_block_opt_in
    whole = rng.choice([0, rng.randint(0, 4096), rng.randint(0, 49152), rng.randint(0, most + 2048)])
    if rng.random() < 0.3:
        share = target.shared_per_sm // rng.randint(1, target.max_blocks_per_sm)
        whole = max(0, share - target.shared_reserved_per_block + rng.choice([-256, -128, -1, 0, 1, 128]))
    static = rng.choice([0, whole, rng.randint(0, whole)])
    carveout = rng.choice([NO_CARVEOUT, NO_CARVEOUT, 0, 50, 100, rng.randint(0, 100)])
    return target, threads, registers, static, whole - static, carveout


def calculate(include: str, configurations: list[Configuration]) -> list[list[int]]:
    """Ask NVIDIA's calculator: the last six columns for each configuration."""
    lines = []
    for target, *numbers in configurations:
        device = [
            *target.compute_capability,
            *[target.max_threads_per_block, target.max_threads_per_sm],
            *[target.registers_per_block, target.registers_per_sm, target.warp_size],
            *[target.shared_per_block, target.shared_per_sm, target.sm_count],
            *[target.shared_per_block_opt_in, target.shared_reserved_per_block],
        ]
        lines.append(" ".join(map(str, [*device, *numbers])))
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/reference"
        source = str(HERE / "occupancy_reference.cpp")
        subprocess.run(["g++", "-O1", "-isystem", include, source, "-o", program], check=True)
        run = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in run.stdout.splitlines()]


def ours(configuration: Configuration) -> list[int]:
    """Give the same six columns from the project's own function."""
    *sizes, carveout = configuration
    preference = None if carveout == NO_CARVEOUT else carveout
    result = occupancy(*sizes, Setting(preference))
    limits = result.limits
    unlimited = [INT_MAX if limit is None else limit for limit in (limits.registers, limits.shared_memory)]
    without = occupancy(*sizes, Setting(preference, opt_in=False)).blocks_per_sm
    return [result.blocks_per_sm, without, limits.warps, limits.blocks, *unlimited]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--include", required=True, help="the folder of cuda_occupancy.h")
    parser.add_argument("--count", type=int, default=55_000, help="configurations to compare")
    parser.add_argument("--keep", type=int, default=3_300, help="configurations to write")
    options = parser.parse_args()

    rng = random.Random(2024)
    targets = [find_target(name) for name in ARCHITECTURES]
    configurations = [random_configuration(rng, targets[i % len(targets)]) for i in range(options.count)]
    expected = calculate(options.include, configurations)
    pairs = list(zip(configurations, expected, strict=True))
    differing = [(c, e) for c, e in pairs if ours(c) != e]
    for configuration, figures in differing[:20]:
        print(configuration[0].architecture, configuration[1:], figures, ours(configuration))  # noqa: T201
    print(f"{len(pairs)} configurations, {len(differing)} differences")  # noqa: T201

    rows = [[c[0].architecture, *c[1:], *e] for c, e in pairs[: options.keep]]
    body = ",\n".join(json.dumps(row) for row in rows)
    source = "cuda_occupancy.h of CUDA Toolkit 13.0, made by make_occupancy_reference.py"
    text = f'{{"source": {json.dumps(source)},\n"columns": {json.dumps(COLUMNS)},\n"rows": [\n{body}\n]}}\n'
    (HERE / "occupancy_reference.json").write_text(text, encoding="utf-8")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
