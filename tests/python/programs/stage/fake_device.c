/* A libcuda.so.1 for which every pointer is one of a GPU. The file $FAKE_DEVICE exists once it has been asked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cuPointerGetAttribute(void* value, int attribute, uintptr_t pointer) {
  const char* const path = getenv("FAKE_DEVICE");
  if (attribute != 2 || pointer == 0) return 1;
  *(unsigned*)value = 2;
  if (path != NULL) {
    FILE* const asked = fopen(path, "w");
    if (asked != NULL) fclose(asked);
  }
  return 0;
}
