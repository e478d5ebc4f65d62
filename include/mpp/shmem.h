/* <shmem.h> where programs of the time before OpenSHMEM look for it; deprecated. */
#include <shmem.h>
