/* The output of a simulation as blocks of variables (library lull-stage: -llull-stage).
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
 * What the variables are, and which part of them each process has, stands in a description in TOML. Out come HDF5 files: of
 * each process or of each server, and for each iteration one over all of these.
 *
 * Under `lull stage` the servers write, while the simulation goes on; without it each process writes for itself, in
 * lull_stage_end_iteration(). The program is the same. It needs no MPI; if it uses it: lull_stage_open() after MPI_Init(),
 * lull_stage_close() before MPI_Finalize(), which waits until all is written.
 *
 * A process has one output at a time. Its calls may come from any thread, one after the other. Each returns LULL_STAGE_OK or one of
 * the codes below, after LULL_STAGE_ERROR nothing has changed; none ends the program. */
#ifndef LULL_STAGE_H
#define LULL_STAGE_H

#include <stdint.h>

#define LULL_STAGE_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum lull_stage_code {
  LULL_STAGE_OK = 0,
  LULL_STAGE_DROPPED = 1,    /* the buffer was full, and the policy is to drop: this iteration will not be written */
  LULL_STAGE_INCOMPLETE = 2, /* of lull_stage_join(): files of some processes are missing; lull_stage_error() says so */
  LULL_STAGE_ERROR = -1      /* lull_stage_error() says what */
};

/* Begin. `description`: the path of a TOML file, or, if it has a line break, the TOML itself. This is process number
 * `process`, from 0, of so many that write. */
LULL_STAGE_API int lull_stage_open(const char* description, int process, int processes);

/* Give a parameter of the description a value. Not while an iteration has been begun by a lull_stage_write(). */
LULL_STAGE_API int lull_stage_set(const char* parameter, int64_t value);

/* Where this process's block of a variable lies, from now on: as many numbers each as its layout has extents, in their order.
 * Needed where the layout says no `cut`. */
LULL_STAGE_API int lull_stage_place(const char* variable, const int64_t offset[], const int64_t count[]);

/* Copy this process's block of a variable, contiguous and in C's order of dimensions. Once in an iteration; once more
 * replaces it. */
LULL_STAGE_API int lull_stage_write(const char* variable, const void* data);

/* So many bytes lull_stage_write() reads; LULL_STAGE_ERROR: there is no such variable, or a parameter has no value. */
LULL_STAGE_API int64_t lull_stage_bytes(const char* variable);

/* In so many dimensions; LULL_STAGE_ERROR: there is no such variable. */
LULL_STAGE_API int lull_stage_dimensions(const char* variable);

/* The type of its elements as the description has it, e.g. "float64"; NULL: there is no such variable. */
LULL_STAGE_API const char* lull_stage_type(const char* variable);

/* What was written since the last call is the iteration of this number, and goes on its way. If nothing was, there is none.
 * LULL_STAGE_ERROR, too, when an earlier iteration could not be written. */
LULL_STAGE_API int lull_stage_end_iteration(int64_t iteration);

/* What was written in an iteration that has not ended is lost. */
LULL_STAGE_API int lull_stage_close(void);

/* Make the files over all processes, of all iterations in a folder, that are missing because some process wrote nothing. */
LULL_STAGE_API int lull_stage_join(const char* folder);

/* What was wrong with this thread's last call that failed: one line, never NULL, valid until the next that fails. */
LULL_STAGE_API const char* lull_stage_error(void);

#ifdef __cplusplus
}
#endif
#endif
