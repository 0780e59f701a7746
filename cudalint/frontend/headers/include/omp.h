#pragma once
#pragma clang force_cuda_host_device begin
struct omp_lock_t { void* lock; };
struct omp_nest_lock_t { void* lock; };
enum omp_sched_t { omp_sched_static = 1, omp_sched_dynamic, omp_sched_guided, omp_sched_auto };
extern "C" {
void omp_set_num_threads(int);
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_thread_num();
int omp_get_num_procs();
int omp_in_parallel();
void omp_set_dynamic(int);
void omp_set_nested(int);
void omp_set_schedule(omp_sched_t, int);
int omp_get_num_devices();
int omp_get_default_device();
void omp_set_default_device(int);
int omp_get_team_num();
int omp_get_num_teams();
int omp_is_initial_device();
double omp_get_wtime();
double omp_get_wtick();
void omp_init_lock(omp_lock_t*);
void omp_destroy_lock(omp_lock_t*);
void omp_set_lock(omp_lock_t*);
void omp_unset_lock(omp_lock_t*);
int omp_test_lock(omp_lock_t*);
}
#pragma clang force_cuda_host_device end
