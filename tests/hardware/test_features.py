"""Which GPUs have an instruction, by the PTX ISA's "Target ISA Notes"."""

from __future__ import annotations

import pytest

from cudalint.facts.needs import Need, Support
from cudalint.hardware.features import strictest, support_of_instruction, target_for
from cudalint.hardware.targets import find_target


@pytest.mark.parametrize(
    ("instruction", "least"),
    [
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", (7, 5)),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", (7, 5)),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", (8, 0)),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", (8, 0)),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", (8, 9)),
        ("cp.async.cg.shared.global", (8, 0)),
        ("cp.async.wait_group", (8, 0)),
        ("cp.async.bulk.commit_group", (9, 0)),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", (9, 0)),
        ("mbarrier.init.shared::cta.b64", (8, 0)),
        ("mbarrier.arrive.expect_tx.shared::cta.b64", (9, 0)),
        ("mbarrier.try_wait.parity.shared::cta.b64", (9, 0)),
        ("stmatrix.sync.aligned.m8n8.x4.shared.b16", (9, 0)),
        ("ld.global.nc.L1::no_allocate.v8.f32", (10, 0)),
        ("fma.rn.ftz.f32x2", (10, 0)),
    ],
)
def test_least_capability(instruction: str, least: tuple[int, int]) -> None:
    assert support_of_instruction(instruction) == Support(least)


@pytest.mark.parametrize(
    "instruction", ["ld.global.v4.f32", "st.shared.v2.b64", "fma.rn.f32", "bar.sync", "mma.sync.aligned.m8n8k4.f16"]
)
def test_what_all_have(instruction: str) -> None:
    assert support_of_instruction(instruction) is None


def test_targets() -> None:
    def judged(configured: str, *instructions: str) -> str | None:
        supports = [support for name in instructions if (support := support_of_instruction(name)) is not None]
        target = target_for(find_target(configured), strictest(Need(".", each, "a.cu", 1) for each in supports))
        return target.name if target is not None else None

    assert judged("a100", "cp.async.cg.shared.global") == "a100"
    assert judged("v100", "cp.async.cg.shared.global") == "a100"
    assert judged("a100", "cp.async.cg.shared.global", "wgmma.fence.sync.aligned") == "h100"
    # What is of sm_90a alone, and of sm_100a and its kin, no later generation runs.
    assert judged("b200", "wgmma.fence.sync.aligned") == "h100"
    assert judged("rtx5090", "tcgen05.alloc.cta_group::1") == "b200"
    assert judged("rtx5090", "setmaxnreg.inc.sync.aligned.u32") == "rtx5090"
    assert judged("a100", "tcgen05.alloc.cta_group::1", "wgmma.fence.sync.aligned") is None
