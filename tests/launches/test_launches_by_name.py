"""Launches of kernels that host code loads from a module by their names, in C++, Rust and Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = 'extern "C" __global__ void fill_f32(float *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n'


def _launch(tmp_path: Path, name: str, text: str) -> LaunchFacts:
    (tmp_path / "LICENSE-MIT").write_text("")
    for path, content in (("kernels/src/fill.cu", _KERNEL), (f"host/{name}", text)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    [kernel] = analyse_file(str(tmp_path / "kernels/src/fill.cu"), AnalysisOptions()).kernels
    [launch] = kernel.launches
    return launch


_DRIVER = """void run(CUmodule module, CUdeviceptr a, int n, CUstream stream) {
  CUfunction f;
  cuModuleGetFunction(&f, module, "fill_f32");
  const int threads = 96;
  void *args[] = {&a, &n};
  CHECK(cuLaunchKernel(f, (n + threads - 1) / threads, 1, 1,
                       threads, 1, 1, 0, stream, args, nullptr));
}
"""
_MEMBER = """Fill::Fill(Program &program) { this->fill_ = program.getKernel("fill_f32"); }
void Fill::run(int n) {
  void *args[] = {&a, &n};
  hipModuleLaunchKernel(fill_, n / 96, 1, 1, 96, 1, 1, 0, stream, args, nullptr);
}
"""
_RUST = """const THREADS: u32 = 96;
impl<'a> Fill<'a> {
    fn run(&self, dev: &'a Device, n: usize) -> Result<()> {
        let func = dev.get_or_load_func("fill_f32", &kernels::FILL)?;
        let blocks = (n as u32 + THREADS - 1) / THREADS;
        let cfg = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        unsafe { func.launch(cfg, (&self.a, n as i32)) }?;
        Ok(())
    }
}
"""
_RUST_TABLE = """fn run(dev: &Device, dtype: Type, n: usize) -> Result<()> {
    let (name, block_dim) = match dtype {
        Type::F16 => ("fill_f16", 32),
        Type::F32 => (
            "fill_f32",
            3 * 32,
        ),
    };
    let func = dev.get_or_load_func(name, &kernels::FILL)?;
    let cfg = LaunchConfig { grid_dim: (n as u32, 1, 1), block_dim: (block_dim as u32, 1, 1), shared_mem_bytes: 0 };
    unsafe { func.launch(cfg, (a, n as i32)) }
}
"""
_RUST_TYPES = """fn run<T: Kind>(dev: &Device, n: usize) -> Result<()> {
    let cfg = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (96, 1, 1), shared_mem_bytes: 0 };
    let func = dev.get_or_load_func(&kernel_name::<T>("fill"), &kernels::FILL)?;
    unsafe { func.launch(cfg, (a, n as i32)) }
}
"""
_CUPY = """import cupy
THREADS = 96
module = cupy.RawModule(code=open("../kernels/src/fill.cu").read())
def run(a):
    fill = module.get_function("fill_f32")
    fill(((a.size + THREADS - 1) // THREADS,), (THREADS,), (a, a.size))
"""
_PYCUDA = """from pycuda.compiler import SourceModule
fill = SourceModule(open("fill.cu").read()).get_function("fill_f32")
fill(a, n, block=(96, 1, 1), grid=(n // 96, 1))
"""


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("run.cpp", _DRIVER, 6),
        ("fill.cpp", _MEMBER, 4),
        ("fill.rs", _RUST, 6),
        ("table.rs", _RUST_TABLE, 10),
        ("types.rs", _RUST_TYPES, 2),
        ("run.py", _CUPY, 6),
        ("pycuda_run.py", _PYCUDA, 3),
    ],
)
def test_the_block_is_that_of_the_launch(tmp_path: Path, name: str, text: str, line: int) -> None:
    launch = _launch(tmp_path, name, text)
    assert (launch.block, launch.source, launch.line) == ((96, 1, 1), "launch-site", line)
    assert launch.path == str(tmp_path / "host" / name)


def test_a_number_of_elements_has_blocks_of_1024(tmp_path: Path) -> None:
    """As cudarc says of `LaunchConfig::for_num_elems`."""
    text = _RUST.replace("LaunchConfig { grid", "LaunchConfig::for_num_elems(n as u32); // {grid")
    assert _launch(tmp_path, "fill.rs", text).block == (1024, 1, 1)


@pytest.mark.parametrize("text", [_RUST.replace("fill_f32", "fill_f64"), _RUST.replace("block_dim", "other")])
def test_other_launches_say_nothing(tmp_path: Path, text: str) -> None:
    assert _launch(tmp_path, "fill.rs", text).source == "default"
