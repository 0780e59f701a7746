"""CL703: asynchronous copies of memory that the GPU can't read by itself."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Related, Suggestion
from cudalint.facts import KernelFacts
from cudalint.rule import Rule, RuleContext


class PageableAsyncCopy(Rule):
    """`cudaMemcpyAsync` to or from memory of the host that is not pinned.

    What it does
        Looks where the memory on the host's side of a `cudaMemcpyAsync` in a loop comes from: `malloc`, `new` or a
        `std::vector`, and no `cudaHostRegister` for it.

    Why is this bad
        The GPU copies by itself only from memory that stays where it is. From pageable memory the driver copies to a
        buffer of its own first, and the call returns when that is done: nothing overlaps, and the copy takes about
        twice as long. A copy to pageable memory returns when it has ended.

    Example
        float *h = (float *)malloc(bytes);
        for (int i = 0; i < batches; i++) {
            cudaStreamSynchronize(stream);
            fill(h, i);
            cudaMemcpyAsync(d, h, bytes, cudaMemcpyHostToDevice, stream);
        }

    Use instead
        float *h;
        cudaMallocHost(&h, bytes);
        for (int i = 0; i < batches; i++) {
            cudaStreamSynchronize(stream);  // Before `h` is used again: the call returns at once now.
            fill(h, i);
            cudaMemcpyAsync(d, h, bytes, cudaMemcpyHostToDevice, stream);
        }

    What is not reported
        - Memory that comes from another function, or from several places, and single variables.
        - Copies in the default stream, in which little overlaps anyway.
        - Copies outside of loops: those that set something up are made once, and nothing in sight tells the others
          from them.
    """

    code = "CL703"
    name = "pageable-async-copy"
    severity = "warning"
    summary = "asynchronous copies of memory that is not pinned"
    by_hand = "the memory's allocation and all that frees it have to change together"
    reads = frozenset({"host"})

    def check(self, kernel: KernelFacts, context: RuleContext) -> Iterator[Diagnostic]:
        return iter(())

    def check_file(self, context: RuleContext) -> Iterator[Diagnostic]:
        for copy in context.file.host.copies if context.file.host is not None else ():
            if copy.buffer.pages != "pageable" or not copy.has_stream or not copy.in_loop:
                continue
            buffer = copy.buffer
            yield self.finding(
                None,
                place=copy.place,
                message=f"`{buffer.name}` is pageable memory, of `{buffer.made_by}`: this copy is not asynchronous",
                related=(Related(buffer.place, "allocated here"),),
                suggestion=Suggestion(
                    f"allocate `{buffer.name}` with `cudaMallocHost`, or pin it once with `cudaHostRegister`, and wait "
                    "for the stream before the host reads, writes or frees it: the call then returns before the copy "
                    "ends"
                ),
                causes=(f"{copy.place.path}: pageable memory is copied",),
                about=buffer.name,
            )
