#pragma once
#pragma clang force_cuda_host_device begin
typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;
unsigned __mbarrier_maximum_count();
void __mbarrier_init(__mbarrier_t*, unsigned);
void __mbarrier_inval(__mbarrier_t*);
__mbarrier_token_t __mbarrier_arrive(__mbarrier_t*);
bool __mbarrier_test_wait(__mbarrier_t*, __mbarrier_token_t);
unsigned __mbarrier_token_pending_count(__mbarrier_token_t);
#pragma clang force_cuda_host_device end
