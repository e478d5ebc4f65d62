#define _GNU_SOURCE
#include "service/scheduler/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int64_t monotonic_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void append(struct lull_message* m, const char* text) {
  const size_t length = strlen(text);
  if (m->used + length >= sizeof m->text) {
    m->is_whole = false;
    return;
  }
  memcpy(m->text + m->used, text, length + 1);
  m->used += length;
}

void lull_begin(struct lull_message* m, const char* ask, const char* key) {
  m->used = 0;
  m->is_whole = true;
  append(m, "{\"v\":1");
  lull_add_text(m, "ask", ask);
  lull_add_text(m, "key", key);
  lull_add_number(m, "time_ns", monotonic_ns());
}

void lull_add_text(struct lull_message* m, const char* name, const char* value) {
  if (value == NULL || *value == '\0') return;
  append(m, ",\"");
  append(m, name);
  append(m, "\":\"");
  for (; *value != '\0'; ++value) {
    char one[8] = {*value, '\0'};
    if (*value == '"' || *value == '\\')
      snprintf(one, sizeof one, "\\%c", *value);
    else if ((unsigned char)*value < 0x20)
      snprintf(one, sizeof one, "\\u%04x", (unsigned)*value);
    append(m, one);
  }
  append(m, "\"");
}

void lull_add_number(struct lull_message* m, const char* name, int64_t value) {
  char text[32];
  append(m, ",\"");
  append(m, name);
  snprintf(text, sizeof text, "\":%lld", (long long)value);
  append(m, text);
}

static int connect_to(int fd, const char* path, int64_t until_ns) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof to.sun_path) return ENAMETOOLONG;
  memcpy(to.sun_path, path, strlen(path));
  while (connect(fd, (const struct sockaddr*)&to, sizeof to) != 0) {
    if (errno != EAGAIN && errno != EINTR) return errno;
    if (monotonic_ns() >= until_ns) return EAGAIN; /* 4096 others wait */
    poll(NULL, 0, 5);
  }
  return 0;
}

static int receive(int fd, char* answer, size_t size, int64_t until_ns) {
  for (;;) {
    struct pollfd readable = {.fd = fd, .events = POLLIN, .revents = 0};
    const int64_t left_ms = (until_ns - monotonic_ns()) / 1000000;
    const int ready = poll(&readable, 1, left_ms > 0 ? (int)left_ms : 0);
    if (ready == 0) return ETIMEDOUT;
    if (ready < 0 && errno != EINTR) return errno;
    if (ready < 0) continue;
    const ssize_t length = recv(fd, answer, size - 1, 0);
    if (length < 0) return errno;
    answer[length] = '\0';
    return length > 0 ? 0 : ECONNRESET;
  }
}

static int send_once(const struct lull_message* m, const char* socket_path, char* answer, size_t size,
                     int64_t until_ns) {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  int error = connect_to(fd, socket_path, until_ns);
  if (error == 0 && send(fd, m->text, m->used, MSG_NOSIGNAL) < 0) error = errno;
  if (error == 0 && answer != NULL) error = receive(fd, answer, size, until_ns);
  close(fd);
  return error;
}

int lull_send(struct lull_message* m, const char* socket_path, char* answer, size_t size) {
  static bool is_silent = false;
  append(m, "}");
  if (answer != NULL) answer[0] = '\0';
  if (!m->is_whole) return EMSGSIZE;
  const int64_t until_ns = monotonic_ns() + (is_silent ? 0 : (int64_t)lull_wait_ms * 1000000);
  int error = send_once(m, socket_path, answer, size, until_ns);
  /* The service ended with the message in its hands. The next one waits for it, and knows what has been done. */
  if (error == ECONNRESET || error == EPIPE) error = send_once(m, socket_path, answer, size, until_ns);
  if (error == ETIMEDOUT || error == EAGAIN) is_silent = true;
  return error;
}

double lull_sum_of(const char* answer, const char* name) {
  char quoted[64];
  const int length = snprintf(quoted, sizeof quoted, "\"%s\":", name);
  double sum = 0;
  for (const char* at = strstr(answer, quoted); at != NULL; at = strstr(at, quoted)) sum += strtod(at += length, NULL);
  return sum;
}

void lull_cgroup_of_job(char* path, size_t size) {
  char line[2048];
  path[0] = '\0';
  FILE* const file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return;
  while (fgets(line, sizeof line, file) != NULL) {
    char* const end = strstr(line, "/step_");
    if (strncmp(line, "0::", 3) != 0 || end == NULL) continue; /* lines with other numbers are of cgroup v1 */
    *end = '\0';
    if (strlen(line + 3) < size) memcpy(path, line + 3, strlen(line + 3) + 1);
  }
  fclose(file);
}

int64_t lull_usage_us(const char* cgroup) {
  /* On machines with both versions, the second one is where version 2 is. */
  static const char* const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
  for (size_t i = 0; *cgroup != '\0' && i < sizeof mounts / sizeof *mounts; ++i) {
    char text[4352];
    if (snprintf(text, sizeof text, "%s%s/cpu.stat", mounts[i], cgroup) >= (int)sizeof text) continue;
    FILE* const file = fopen(text, "re");
    if (file == NULL) continue;
    long long usage = -1;
    if (fscanf(file, "usage_usec %lld", &usage) != 1) usage = -1;
    fclose(file);
    if (usage >= 0) return usage;
  }
  return -1;
}
