/* Messages to the service of this node, for programs and plugins of schedulers: C without any library.
 *
 * A message never delays a job by more than lull_wait_ms, and in a process to which the service once did not answer in
 * time, no further message waits. A message that was sent counts even if nothing waits for its answer: systemd keeps it
 * while the service is down. docs/reference/service-protocol.md describes the messages.
 */
#ifndef LULL_SERVICE_SCHEDULER_WIRE_H
#define LULL_SERVICE_SCHEDULER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { lull_wait_ms = 200, lull_longest_message = 4096, lull_longest_answer = 65536 };

#define LULL_ACCOUNTS_SOCKET "/run/lull/accounts"

/* A message under construction; `is_whole` is false once a field did not fit. */
struct lull_message {
  char text[lull_longest_message];
  size_t used;
  bool is_whole;
};

/* Begins a message with its version, `ask`, the key of the account and CLOCK_MONOTONIC. */
void lull_begin(struct lull_message* m, const char* ask, const char* key);
/* Adds a field; an empty text is left out. */
void lull_add_text(struct lull_message* m, const char* name, const char* value);
void lull_add_number(struct lull_message* m, const char* name, int64_t value);

/* Ends the message and sends it. With an `answer` of `size` bytes, waits for it. Returns 0, or an errno: ETIMEDOUT if it
 * was sent and there was no answer in time. */
int lull_send(struct lull_message* m, const char* socket_path, char* answer, size_t size);

/* The sum of all numbers with this name in an answer. */
double lull_sum_of(const char* answer, const char* name);

/* The job's cgroup: that of this process, a slurmstepd, up to "/step_"; empty if it is in none of cgroup v2. */
void lull_cgroup_of_job(char* path, size_t size);
/* usage_usec of a cgroup; negative if it cannot be read. */
int64_t lull_usage_us(const char* cgroup);

#endif
