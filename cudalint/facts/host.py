"""What host code does around its kernels: where memory comes from, what is copied, and which launches follow which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from cudalint.facts.host_faults import HostFault
from cudalint.facts.places import Place

Pages = Literal["pageable", "pinned", "mapped", "managed", "device"]
"""Memory of the host that the driver copies from by way of a buffer of its own; memory that the GPU reads itself; such
memory that is mapped into its address space; memory that moves by itself; memory of the GPU."""


class Buffer(Struct, frozen=True):
    """Memory that the source gives a name."""

    name: str
    place: Place
    """Where it is allocated."""
    pages: Pages
    made_by: str
    """The function, operator or type that does: `malloc`, `new`, `std::vector`."""
    is_portable: bool = False
    """It is allocated as pinned for all devices."""


class HostCopy(Struct, frozen=True):
    """A call of `cudaMemcpyAsync` with memory of the host on one side."""

    place: Place
    buffer: Buffer
    """On the side of the host."""
    has_stream: bool = False
    """Whether it names another stream than the default one."""
    in_loop: bool = False
    """Whether it stands in a loop of its function."""


class HostStep(Struct, frozen=True):
    """A launch as the host code has it."""

    kernel: str
    place: Place
    loop: Place | None
    """The innermost loop around it, in the same function."""
    waits_in_loop: bool
    """Whether the host waits for the device, or copies, in that loop."""
    buffers: Mapping[int, Buffer]
    """By position: the arguments of which is known where they come from."""
    variables: tuple[str, ...]
    """The variable in each argument that is one and nothing else, else an empty text."""
    follows: int | None = None
    """The number of the launch right before it, if nothing else happens in between that could matter to a kernel."""
    shape: str = ""
    """Its grid and block as the source spells them: equal for equal ones while no variable changes."""
    read_later: frozenset[str] = frozenset()
    """Of its variables, those that something other than releasing them uses after it."""


class HostFacts(Struct, frozen=True):
    """All of one file."""

    copies: tuple[HostCopy, ...] = ()
    launches: tuple[HostStep, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    device_choices: tuple[Place, ...] = ()
    """Calls of `cudaSetDevice`, if the code chooses several devices."""
    faults: tuple[HostFault, ...] = ()
