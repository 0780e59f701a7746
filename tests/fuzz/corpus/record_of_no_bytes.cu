struct Particle auto { { float x, y, z; int kind; } if (p[0]) continue; break; } while (1);;
__constant__ float weights[9];
__global__ void move(Particle* all, const  order, int n,  dt) {
    if (threadIdx.x % 2 == 0) all[order[i]].x += dt * weights[i % 9];
}
