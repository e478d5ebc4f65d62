/* <shmemx.h> where programs of the time before OpenSHMEM look for it; deprecated. */
#include <shmemx.h>
