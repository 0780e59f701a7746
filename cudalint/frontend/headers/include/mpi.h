#pragma once
#pragma clang force_cuda_host_device begin
// As much of MPI as the host side of GPU programs uses; the arguments of its many calls don't matter here.
#define MPI_VERSION 3
typedef struct _cudalint_mpi_comm* MPI_Comm;
typedef struct _cudalint_mpi_datatype* MPI_Datatype;
typedef struct _cudalint_mpi_op* MPI_Op;
typedef struct _cudalint_mpi_request* MPI_Request;
typedef struct _cudalint_mpi_group* MPI_Group;
typedef struct _cudalint_mpi_win* MPI_Win;
typedef struct _cudalint_mpi_info* MPI_Info;
typedef struct _cudalint_mpi_file* MPI_File;
typedef long MPI_Aint;
typedef long MPI_Offset;
struct MPI_Status { int MPI_SOURCE, MPI_TAG, MPI_ERROR; };
#define MPI_SUCCESS 0
#define MPI_ANY_SOURCE (-1)
#define MPI_ANY_TAG (-1)
#define MPI_PROC_NULL (-2)
#define MPI_UNDEFINED (-32766)
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_ERROR_STRING 256
#define MPI_COMM_TYPE_SHARED 0
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3
#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
extern MPI_Comm MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL;
extern MPI_Request MPI_REQUEST_NULL;
extern MPI_Info MPI_INFO_NULL;
extern MPI_Datatype MPI_CHAR, MPI_BYTE, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_LONG_LONG_INT, MPI_FLOAT, MPI_DOUBLE;
extern MPI_Datatype MPI_UNSIGNED, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_DOUBLE_INT;
extern MPI_Datatype MPI_LONG_DOUBLE, MPI_2INT, MPI_FLOAT_INT, MPI_INT8_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT32_T, MPI_UINT64_T;
extern MPI_Datatype MPI_C_BOOL, MPI_CXX_BOOL, MPI_DATATYPE_NULL, MPI_COMPLEX, MPI_DOUBLE_COMPLEX;
extern MPI_Op MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_LAND, MPI_LOR, MPI_BAND, MPI_BOR, MPI_MAXLOC, MPI_MINLOC;
extern "C" double MPI_Wtime();
extern "C" double MPI_Wtick();
#define _CUDALINT_MPI(_F) extern "C" int MPI_##_F(...);
_CUDALINT_MPI(Abort)
_CUDALINT_MPI(Address)
_CUDALINT_MPI(Allgather)
_CUDALINT_MPI(Allgatherv)
_CUDALINT_MPI(Allreduce)
_CUDALINT_MPI(Alltoall)
_CUDALINT_MPI(Alltoallv)
_CUDALINT_MPI(Barrier)
_CUDALINT_MPI(Bcast)
_CUDALINT_MPI(Cart_coords)
_CUDALINT_MPI(Cart_create)
_CUDALINT_MPI(Cart_get)
_CUDALINT_MPI(Cart_rank)
_CUDALINT_MPI(Cart_shift)
_CUDALINT_MPI(Comm_create)
_CUDALINT_MPI(Comm_dup)
_CUDALINT_MPI(Comm_free)
_CUDALINT_MPI(Comm_group)
_CUDALINT_MPI(Comm_rank)
_CUDALINT_MPI(Comm_size)
_CUDALINT_MPI(Comm_split)
_CUDALINT_MPI(Comm_split_type)
_CUDALINT_MPI(Dims_create)
_CUDALINT_MPI(Error_string)
_CUDALINT_MPI(Finalize)
_CUDALINT_MPI(Finalized)
_CUDALINT_MPI(Gather)
_CUDALINT_MPI(Gatherv)
_CUDALINT_MPI(Get_count)
_CUDALINT_MPI(Get_address)
_CUDALINT_MPI(Get_processor_name)
_CUDALINT_MPI(Ibcast)
_CUDALINT_MPI(Init)
_CUDALINT_MPI(Init_thread)
_CUDALINT_MPI(Initialized)
_CUDALINT_MPI(Iprobe)
_CUDALINT_MPI(Irecv)
_CUDALINT_MPI(Isend)
_CUDALINT_MPI(Op_create)
_CUDALINT_MPI(Op_free)
_CUDALINT_MPI(Probe)
_CUDALINT_MPI(Recv)
_CUDALINT_MPI(Reduce)
_CUDALINT_MPI(Reduce_scatter)
_CUDALINT_MPI(Request_free)
_CUDALINT_MPI(Rsend)
_CUDALINT_MPI(Scan)
_CUDALINT_MPI(Scatter)
_CUDALINT_MPI(Scatterv)
_CUDALINT_MPI(Send)
_CUDALINT_MPI(Send_init)
_CUDALINT_MPI(Recv_init)
_CUDALINT_MPI(Sendrecv)
_CUDALINT_MPI(Ssend)
_CUDALINT_MPI(Start)
_CUDALINT_MPI(Startall)
_CUDALINT_MPI(Test)
_CUDALINT_MPI(Testall)
_CUDALINT_MPI(Type_commit)
_CUDALINT_MPI(Type_contiguous)
_CUDALINT_MPI(Type_create_struct)
_CUDALINT_MPI(Type_free)
_CUDALINT_MPI(Type_struct)
_CUDALINT_MPI(Type_vector)
_CUDALINT_MPI(Wait)
_CUDALINT_MPI(Waitall)
_CUDALINT_MPI(Waitany)
_CUDALINT_MPI(Waitsome)
#undef _CUDALINT_MPI
#pragma clang force_cuda_host_device end
