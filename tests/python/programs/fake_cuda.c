/* A libcuda.so.1 without a GPU: its memory is the host's, and asynchronous operations wait for their synchronisation.
 *
 * It counts the calls and writes the counts as JSON to $FAKE_CUDA_COUNTS when the process ends. $FAKE_CUDA_FAILS is a
 * function that returns "out of memory", $FAKE_CUDA_DEVICES the number of GPUs, and $FAKE_CUDA_LOSES makes asynchronous
 * copies do nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

enum { most_pending = 1 << 20 };
static struct {
  void* to;
  const void* from;
  size_t bytes;
} pending[most_pending];
static size_t waiting;
static long to_gpu, to_gpu_async, from_gpu, from_gpu_async, synchronised, live, scheduling;

static int fails(const char* name) {
  const char* wanted = getenv("FAKE_CUDA_FAILS");
  return wanted != NULL && strcmp(wanted, name) == 0 ? 2 : 0;
}
#define FAIL_IF_ASKED \
  if (fails(__func__)) return 2

__attribute__((destructor)) static void write_counts(void) {
  const char* path = getenv("FAKE_CUDA_COUNTS");
  FILE* file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file,
          "{\"to_gpu\": %ld, \"to_gpu_async\": %ld, \"from_gpu\": %ld, \"from_gpu_async\": %ld, "
          "\"synchronised\": %ld, \"scheduling\": %ld, \"live\": %ld}\n",
          to_gpu, to_gpu_async, from_gpu, from_gpu_async, synchronised, scheduling, live);
  fclose(file);
}

static int devices(void) {
  const char* wanted = getenv("FAKE_CUDA_DEVICES");
  return wanted != NULL ? atoi(wanted) : 1;
}

static int allocate(void** begin, size_t bytes) {
  *begin = malloc(bytes);
  ++live;
  return 0;
}

static int release(void* begin) {
  free(begin);
  --live;
  return 0;
}

static int later(void* to, const void* from, size_t bytes) {
  if (getenv("FAKE_CUDA_LOSES") != NULL) return 0;
  if (waiting == most_pending) return 2;
  pending[waiting].to = to;
  pending[waiting].from = from;
  pending[waiting++].bytes = bytes;
  return 0;
}

int cuInit(unsigned flags) {
  FAIL_IF_ASKED;
  return flags == 0 && devices() > 0 ? 0 : 100;
}
int cuDeviceGetCount(int* count) {
  *count = devices();
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int length, int device) {
  snprintf(name, (size_t)length, "Imagined %d", device);
  return 0;
}
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  (void)device;
  scheduling = flags;
  FAIL_IF_ASKED;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)device;
  FAIL_IF_ASKED;
  return allocate(context, 1);
}
static void* context_of_thread;
int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return release(context_of_thread);
}
int cuCtxSetCurrent(void* context) {
  context_of_thread = context;
  FAIL_IF_ASKED;
  return 0;
}
int cuMemAlloc_v2(address* begin, size_t bytes) {
  FAIL_IF_ASKED;
  void* got = NULL;
  const int status = allocate(&got, bytes);
  *begin = (address)got;
  return status;
}
int cuMemFree_v2(address begin) { return release((void*)begin); }
int cuMemAllocHost_v2(void** begin, size_t bytes) {
  FAIL_IF_ASKED;
  return allocate(begin, bytes);
}
int cuMemFreeHost(void* begin) { return release(begin); }
int cuMemcpyHtoD_v2(address to, const void* from, size_t bytes) {
  FAIL_IF_ASKED;
  ++to_gpu;
  memcpy((void*)to, from, bytes);
  return 0;
}
int cuMemcpyHtoDAsync_v2(address to, const void* from, size_t bytes, void* stream) {
  FAIL_IF_ASKED;
  ++to_gpu_async;
  return stream != NULL ? later((void*)to, from, bytes) : 1;
}
int cuMemcpyDtoH_v2(void* to, address from, size_t bytes) {
  FAIL_IF_ASKED;
  ++from_gpu;
  memcpy(to, (const void*)from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, address from, size_t bytes, void* stream) {
  FAIL_IF_ASKED;
  ++from_gpu_async;
  return stream != NULL ? later(to, (const void*)from, bytes) : 1;
}
int cuStreamCreate(void** stream, unsigned flags) {
  (void)flags;
  FAIL_IF_ASKED;
  return allocate(stream, 1);
}
int cuStreamSynchronize(void* stream) {
  FAIL_IF_ASKED;
  ++synchronised;
  if (stream == NULL) return 0;
  for (size_t i = 0; i < waiting; ++i) memcpy(pending[i].to, pending[i].from, pending[i].bytes);
  waiting = 0;
  return 0;
}
int cuStreamDestroy_v2(void* stream) { return release(stream); }
int cuGetErrorString(int status, const char** text) {
  *text = status == 2 ? "out of memory" : "invalid argument";
  return 0;
}
