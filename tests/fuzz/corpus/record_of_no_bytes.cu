struct Record auto { auto { float x, y, z; int kind; } while (1);
__global__ void k(Record *all, int n) {
    int i = threadIdx.x / 2;
    if (threadIdx.x % 2 == 0) all[i].x += n;
    else all[i].y = n;
    switch (all[i].kind) { case 0: atomicAdd(L"w", 1); }
}
int main() { k<<<2, 64>>>(nullptr, 3); }
