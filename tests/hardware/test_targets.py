"""The target table: names, and figures that must fit each other."""

from __future__ import annotations

import math
import pickle

import pytest

from cudalint.hardware.targets import UnknownTarget, find_target, target_names
from cudalint.options.analysis import DEFAULT_TARGET

ARCHITECTURES = [
    "sm_61", "sm_70", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120",
]  # fmt: skip

_OTHERWISE = {("b300", "fp4")}
"""Blackwell Ultra does half as many again of these ("Inside NVIDIA Blackwell Ultra": 15 of 10 PFLOPS)."""


@pytest.mark.parametrize(
    ("name", "chip"),
    [
        *[("a100", "a100"), ("A100", "a100"), ("A100-80GB", "a100-80gb"), ("RTX 4090", "rtx4090")],
        *[
            ("sm_80", "a100"),
            ("SM_90a", "h100"),
            ("sm86", "a10"),
            ("compute_75", "t4"),
            ("sm_120", "rtx5090"),
        ],
        # As nvidia-smi names them.
        *[("NVIDIA A100-SXM4-40GB", "a100"), ("NVIDIA H100 80GB HBM3", "h100")],
        *[("NVIDIA A100 80GB PCIe", "a100-80gb-pcie"), ("Tesla V100-SXM2-16GB", "v100")],
        *[("NVIDIA RTX A6000", "a6000"), ("NVIDIA RTX 6000 Ada Generation", "rtx6000-ada"), ("NVIDIA A30", "a30")],
        *[("NVIDIA GeForce RTX 4080", "rtx4080"), ("NVIDIA GeForce RTX 5070 Ti", "rtx5070ti")],
        *[
            ("Quadro RTX 6000", "quadro-rtx6000"),
            ("Tesla V100-PCIE-32GB", "v100-pcie"),
            ("NVIDIA H100 NVL", "h100-nvl"),
        ],
        *[("NVIDIA GH200 480GB", "gh200"), ("4090", "rtx4090"), ("3080", "rtx3080"), ("A6000", "a6000")],
        *[("NVIDIA GeForce RTX 3090", "rtx3090"), ("NVIDIA L40S", "l40s"), ("Tesla T4", "t4")],
        *[("NVIDIA GeForce GTX 1080", "gtx1080"), ("Tesla P40", "p40"), ("sm_61", "gtx1080")],
        *[("NVIDIA GeForce RTX 3060", "rtx3060"), ("4060", "rtx4060"), ("NVIDIA B300 SXM6 AC", "b300")],
    ],
)
def test_names(name: str, chip: str) -> None:
    assert find_target(name).name == chip


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_has_a_chip_of_its_own(architecture: str) -> None:
    target = find_target(architecture)
    major, minor = target.compute_capability
    assert target.architecture == architecture == f"sm_{major}{minor}"


def test_an_unknown_name_is_answered_with_close_ones() -> None:
    with pytest.raises(UnknownTarget, match=r"unknown target 'a1000'; did you mean a100, ") as caught:
        find_target("a1000")
    assert caught.value.close[0] == "a100"
    with pytest.raises(UnknownTarget, match=r"did you mean sm_90"):
        find_target("sm_91")
    with pytest.raises(UnknownTarget, match=r"known are gtx1080, .*sm_120") as caught:
        find_target("")
    assert caught.value.close == ()


@pytest.mark.parametrize("name", ["GTX 980 Ti", "NVIDIA GeForce GTX 980 Ti", "Tesla P100", "sm_60", "compute_52"])
def test_a_gpu_before_those_is_said_to_be_one(name: str) -> None:
    with pytest.raises(UnknownTarget, match=r"is older than sm_61 \(Pascal\), with which the model begins"):
        find_target(name)


def test_the_default_is_the_a100_of_the_hardware_model() -> None:
    target = find_target(DEFAULT_TARGET)
    assert (target.sm_count, target.max_threads_per_sm, target.max_blocks_per_sm) == (108, 2048, 32)
    assert (target.shared_per_sm, target.shared_per_block_opt_in) == (164 * 1024, 163 * 1024)
    assert target.ridge == pytest.approx(12.54, abs=0.01)
    assert (target.tensor_tflops["fp16"], target.tensor_tflops["tf32"]) == (312, 156)


@pytest.mark.parametrize("name", target_names())
def test_figures_fit_each_other(name: str) -> None:
    target = find_target(name)
    assert target.max_threads_per_sm % target.max_threads_per_block in (0, 512)
    assert target.shared_per_block <= target.shared_per_block_opt_in
    # From Volta on a block may ask for all of it.
    if target.compute_capability >= (7, 0):
        assert target.shared_per_block_opt_in + target.shared_reserved_per_block == target.shared_per_sm
    # An FP32 lane does two operations per clock, so that the peak implies a clock.
    lanes = 64 if target.architecture in ("sm_70", "sm_75", "sm_80") else 128
    assert target.lanes["fp32"] == lanes
    assert 1.2 < target.clock_ghz < 2.7
    assert {"limits", "shared_memory", "allocation", "lanes", "l2", "sm_count", "peaks"} == target.sources.keys()


@pytest.mark.parametrize("name", [name for name in target_names() if find_target(name).tensor_tflops])
def test_tensor_cores_do_a_power_of_two_for_each_sm_and_clock(name: str) -> None:
    """What documents state for one clock; those of some are rounded, or for another clock than the peak of FP32."""
    target = find_target(name)
    for kind, peak in target.tensor_tflops.items():
        rate = math.log2(peak * 1000 / (target.sm_count * target.clock_ghz))
        assert abs(rate - round(rate)) < 0.25 or (target.name, kind) in _OTHERWISE, (kind, 2**rate)


def test_the_h200_is_as_its_device_says() -> None:
    """`cuDeviceGetAttribute` of an H200 (SXM, driver API): a bus of 6016 bits at 3201 MHz, doubled, among them."""
    target = find_target("h200")
    assert (target.sm_count, target.l2_bytes, target.compute_capability) == (132, 62914560, (9, 0))
    assert (target.max_threads_per_sm, target.max_blocks_per_sm, target.registers_per_sm) == (2048, 32, 65536)
    assert (target.shared_per_sm, target.shared_per_block_opt_in, target.shared_per_block) == (233472, 232448, 49152)
    assert target.shared_reserved_per_block == 1024
    assert target.bandwidth_gb_s == pytest.approx(6016 / 8 * 2 * 3.201, rel=0.01)
    assert target.clock_ghz == pytest.approx(1.98, rel=0.01)


def test_targets_are_hashable_and_travel_between_processes() -> None:
    target = find_target("h100")
    assert pickle.loads(pickle.dumps(target)) == target
    assert hash(target) == hash(find_target("sm_90"))
