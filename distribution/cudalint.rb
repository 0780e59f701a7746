# A formula for a tap; distribution/fill.py fills in what stands between at signs.
#
# What cudalint depends on comes as wheels, of which those of libclang and numpy have compiled parts. Homebrew's own
# repository takes only what is built from source; a tap may install wheels, as this one does.
class Cudalint < Formula
  desc "@DESCRIPTION@"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "@LICENSE@"

  depends_on "python@3.13"

  def install
    system Formula["python@3.13"].opt_bin/"python3.13", "-m", "venv", libexec
    system libexec/"bin/python", "-m", "pip", "install", "--no-cache-dir", "#{buildpath}[lsp]"
    bin.install_symlink libexec/"bin/cudalint"
    generate_completions_from_executable(bin/"cudalint", shell_parameter_format: :click)
  end

  test do
    (testpath/"a.cu").write <<~CUDA
      __global__ void k(float *out) {
        __shared__ float t[32][32];
        t[threadIdx.y][threadIdx.x] = 1;
        __syncthreads();
        out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
      }
      void run(float *out) { k<<<1024, dim3(32, 32)>>>(out); }
    CUDA
    assert_match "CL201", shell_output("#{bin}/cudalint --format concise #{testpath}/a.cu", 1)
  end
end
