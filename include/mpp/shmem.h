/* <shmem.h> at the path that programs from before OpenSHMEM include; deprecated. */
#include <shmem.h>
