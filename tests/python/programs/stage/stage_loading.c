/* A library whose constructor calls the function at the address in the variable DURING_LOAD, with the loader's lock
 * held. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void loaded(void) {
  const char* const text = getenv("DURING_LOAD");
  void* address = NULL;
  if (text != NULL && sscanf(text, "%p", &address) == 1) ((void (*)(void))address)();
}
