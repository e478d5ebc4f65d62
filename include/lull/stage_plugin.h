/* Plug-ins of a simulation's output. A plug-in is a function of a shared library. It is called for each iteration that has
 * been written, with the data in memory. The description names it:
 *
 *     [[plugins]]
 *     library = "./libmine.so"
 *     function = "look"
 *     every = 10
 *     options = { variable = "temperature" }
 *
 * The process that writes calls it: under `lull stage` a server, with the blocks of all its clients in that iteration;
 * otherwise each process, with its own blocks. The next iteration is not written before it returns. */
#ifndef LULL_STAGE_PLUGIN_H
#define LULL_STAGE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block of a variable, written by one process. Read-only, and valid during the call only. */
struct lull_stage_block {
  const char* variable;
  const char* type; /* as in the description: "float64" */
  const char* unit; /* "" for none */
  int process;      /* that wrote it */
  int dimensions;
  const int64_t* extents; /* of the whole variable, in C's order of dimensions, as are the next two */
  const int64_t* offset;  /* of the block in the variable */
  const int64_t* count;   /* elements of the block */
  const void* data;       /* contiguous */
};

struct lull_stage_iteration {
  int64_t number;
  int processes;       /* of the whole simulation; some of their blocks may be with other servers */
  const char* folder;  /* of the output */
  const char* name;    /* of the output */
  const char* options; /* of the description, as JSON: "{}" */
  size_t blocks;
  const struct lull_stage_block* block; /* `blocks` of them, in the order of processes */
};

/* The type of a plug-in. Any value but 0 is a failure: it is reported in one line, the first time only, and the output
 * continues. */
typedef int (*lull_stage_plugin)(const struct lull_stage_iteration* iteration);

#ifdef __cplusplus
}
#endif
#endif
