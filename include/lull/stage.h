/* Writes the output of a simulation as blocks of variables. Link with lull-stage.
 *
 *     lull_stage_open("output.toml", rank, size);
 *     lull_stage_set("nx", 512);
 *     for (step = 0; step < steps; ++step) {
 *       ...
 *       lull_stage_write("temperature", temperature);
 *       lull_stage_end_iteration(step);
 *     }
 *     lull_stage_close();
 *
 * A description in TOML names the variables and says which part of them each process has. The output is HDF5 files: one
 * for each process or server and iteration, and one for each iteration that combines these.
 *
 * Under `lull stage` servers write while the simulation continues; without it each process writes its own files, in
 * lull_stage_end_iteration(). The program is the same for both. It needs no MPI. A program with MPI calls
 * lull_stage_open() after MPI_Init() and lull_stage_close() before MPI_Finalize(), which waits until all files are
 * written.
 *
 * Threads. A process has one output at a time. Any of its threads may call these functions, but only one at a time.
 *
 * Errors. Each call returns LULL_STAGE_OK or one of the codes below, unless said otherwise. A call that returns
 * LULL_STAGE_ERROR had no effect; no call ends the program. */
#ifndef LULL_STAGE_H
#define LULL_STAGE_H

#include <stdint.h>

#define LULL_STAGE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum lull_stage_code {
  LULL_STAGE_OK = 0,
  LULL_STAGE_DROPPED = 1,    /* the buffer is full and the description says to drop: this iteration is not written */
  LULL_STAGE_INCOMPLETE = 2, /* from lull_stage_join(): files of some processes are missing; see lull_stage_error() */
  LULL_STAGE_ERROR = -1      /* see lull_stage_error() */
};

/* Begins the output. `description` is the path of a TOML file or, if it contains a line break, TOML itself. The calling
 * process is number `process`, from 0, of the `processes` that write. */
LULL_STAGE_API int lull_stage_open(const char* description, int process, int processes);

/* Sets a parameter of the description. Not allowed between a lull_stage_write() and the end of its iteration. */
LULL_STAGE_API int lull_stage_set(const char* parameter, int64_t value);

/* Says where this process's block of a variable begins and how large it is, until the next such call. Both arrays have one
 * number for each extent of the variable's layout, in that order. Needed if the layout has no `cut`. */
LULL_STAGE_API int lull_stage_place(const char* variable, const int64_t offset[], const int64_t count[]);

/* Copies this process's block of a variable: contiguous, in C's order of dimensions, lull_stage_bytes() bytes. A second call
 * in the same iteration replaces the block. */
LULL_STAGE_API int lull_stage_write(const char* variable, const void* data);

/* Returns the bytes of this process's block of a variable; LULL_STAGE_ERROR if there is no such variable, or if a parameter
 * has no value. */
LULL_STAGE_API int64_t lull_stage_bytes(const char* variable);

/* Returns the number of dimensions of a variable; LULL_STAGE_ERROR if there is no such variable. */
LULL_STAGE_API int lull_stage_dimensions(const char* variable);

/* Returns the type of a variable's elements as the description has it, for instance "float64"; NULL if there is no such
 * variable. */
LULL_STAGE_API const char* lull_stage_type(const char* variable);

/* Ends an iteration: the blocks written since the last call belong to number `iteration`, and are written to files now or
 * sent to a server. Without such blocks there is no iteration. Returns LULL_STAGE_ERROR, too, if an earlier iteration
 * could not be written. */
LULL_STAGE_API int lull_stage_end_iteration(int64_t iteration);

/* Ends the output. Blocks of an iteration that has not ended are lost. */
LULL_STAGE_API int lull_stage_close(void);

/* Makes those files of iterations in a folder that are missing because some process wrote nothing. */
LULL_STAGE_API int lull_stage_join(const char* folder);

/* Describes the last failure in this thread in one line; never NULL, valid until the next failure. */
LULL_STAGE_API const char* lull_stage_error(void);

#ifdef __cplusplus
}
#endif
#endif
