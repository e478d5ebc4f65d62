/* Plug-ins of a simulation's output: a function of a shared library that is called when an iteration has been written, with
 * its data as they are in memory. It is named in the description:
 *
 *     [[plugins]]
 *     library = "./libmine.so"
 *     function = "look"
 *     every = 10
 *     options = { variable = "temperature" }
 *
 * Who writes calls it: under `lull stage` a server, with what all its clients have written in that iteration, else each process
 * with what is its own. The next iteration waits for it. */
#ifndef LULL_STAGE_PLUGIN_H
#define LULL_STAGE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one process has written of a variable; all of it may only be read, and only during the call. */
struct lull_stage_block {
  const char* variable;
  const char* type; /* as in the description: "float64" */
  const char* unit; /* "": none */
  int process;
  int dimensions;
  const int64_t* extents; /* of the whole variable, in C's order, as are the next two */
  const int64_t* offset;  /* where the block begins in it */
  const int64_t* count;   /* how large it is */
  const void* data;       /* contiguous */
};

struct lull_stage_iteration {
  int64_t number;
  int processes;       /* of the simulation: their blocks may be here, or elsewhere */
  const char* folder;  /* of the output */
  const char* name;    /* of the output */
  const char* options; /* of the description, as JSON: "{}" */
  size_t blocks;
  const struct lull_stage_block* block; /* in the order of processes */
};

/* What a plug-in is. Anything but 0 is a failure, which is said in a line, once; the output goes on. */
typedef int (*lull_stage_plugin)(const struct lull_stage_iteration* iteration);

#ifdef __cplusplus
}
#endif
#endif
