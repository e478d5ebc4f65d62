/* lull_spank.so: an account at lull-meterd for each job on this node, for Slurm's plugstack.conf.
 *
 *   optional /usr/lib/lull/python/lull/libexec/lull_spank.so [socket=PATH] [cluster=NAME] [line=off]
 *            [site=FILE]
 *
 * The prolog of a job opens the account; in its steps (remote context), the first that starts adds cores, memory and cgroup,
 * the end of each task and of each step reports the job's CPU time, and the job's epilog closes the account. In sbatch, srun and salloc there is the option
 * --lull=quiet alone. Nothing happens in slurmd itself. All functions return 0, because Slurm takes a node whose prolog fails out of
 * service; only the report of the beginning and the figures of a batch job wait for an answer, 0.2 s at most (wire.h).
 *
 * A batch script gets a line with the job's energy on this node into its own stderr. root opens no path for that: the
 * script's process passes its stderr to slurmstepd, and a child writes to it as user nobody, and is killed after 2 s. So a
 * link or a file system that hangs in the user's path can do nothing. Where the site collects the rows of jobs, so that
 * its file is there (by default /etc/lull/jobs.toml), the line names `lull jobs`, which shows all nodes.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/scheduler/wire.h"

SPANK_PLUGIN(lull, 1)

enum { seconds_to_write = 2, nobody = 65534 };

/* Steps that are no srun. */
static const uint32_t batch_step = 0xfffffffb, extern_step = 0xfffffffc;

static const char* socket_path = LULL_ACCOUNTS_SOCKET;
static const char* cluster = "";
static const char* site_file = "/etc/lull/jobs.toml";
static bool is_quiet = false;
static int passing[2] = {-1, -1}; /* from the task of a batch script to slurmstepd */
static char key[64], cgroup[4096];

static int take_option(int value, const char* text, int is_remote) {
  (void)value;
  if (text != NULL && strcmp(text, "quiet") == 0) {
    is_quiet = true;
    return 0;
  }
  if (!is_remote)
    slurm_error("--lull=%s: there is only --lull=quiet, which leaves out the line at the end of a batch job",
                text != NULL ? text : "");
  return is_remote ? 0 : -1;
}

static void take_arguments(int count, char** words) {
  for (int i = 0; i < count; ++i) {
    if (strncmp(words[i], "socket=", 7) == 0)
      socket_path = words[i] + 7;
    else if (strncmp(words[i], "cluster=", 8) == 0)
      cluster = words[i] + 8;
    else if (strncmp(words[i], "site=", 5) == 0)
      site_file = words[i] + 5;
    else if (strcmp(words[i], "line=off") == 0)
      is_quiet = true;
  }
}

static bool is_remote(void) { return spank_context() == S_CTX_REMOTE; }

static uint32_t number_of(spank_t spank, spank_item_t item) {
  uint32_t number = 0;
  return spank_get_item(spank, item, &number) == ESPANK_SUCCESS ? number : 0;
}

static void find_key(spank_t spank) { snprintf(key, sizeof key, "slurm.%u", number_of(spank, S_JOB_ID)); }

/* How many there are in a list such as 0-2,5. */
static int64_t count_in(const char* list) {
  int64_t count = 0;
  while (list != NULL && *list != '\0') {
    char* end;
    const long first = strtol(list, &end, 10);
    if (end == list) break;
    const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    count += last - first + 1;
    list = *end == ',' ? end + 1 : end;
  }
  return count;
}

/* Slurm gives whole cores, the service counts hardware threads. */
static int64_t threads_of_a_core(void) {
  char siblings[256] = "0";
  FILE* const file = fopen("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "re");
  if (file == NULL) return 1;
  if (fgets(siblings, sizeof siblings, file) == NULL) siblings[0] = '\0';
  fclose(file);
  const int64_t count = count_in(siblings);
  return count > 0 ? count : 1;
}

int slurm_spank_init(spank_t spank, int count, char** words) {
  static struct spank_option option = {
      "lull", "quiet", "quiet: no line with the job's energy at the end of a batch job", 1, 0, take_option};
  const spank_context_t where = spank_context();
  if (where == S_CTX_LOCAL || where == S_CTX_ALLOCATOR || where == S_CTX_REMOTE) spank_option_register(spank, &option);
  take_arguments(count, words);
  return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char** words) {
  (void)count, (void)words;
  if (!is_remote()) return 0;
  static struct lull_message m;
  static char answer[lull_longest_answer];
  uid_t uid = (uid_t)-1;
  char* cores = NULL;
  uint64_t memory_mib = 0;
  char job[16], project[256] = "", name[256] = "";
  find_key(spank);
  lull_cgroup_of_job(cgroup, sizeof cgroup);
  if (spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS) return 0;
  spank_get_item(spank, S_JOB_ALLOC_CORES, &cores);
  spank_get_item(spank, S_JOB_ALLOC_MEM, &memory_mib);
  spank_getenv(spank, "SLURM_JOB_ACCOUNT", project, sizeof project);
  spank_getenv(spank, "SLURM_CLUSTER_NAME", name, sizeof name);
  snprintf(job, sizeof job, "%u", number_of(spank, S_JOB_ID));

  lull_begin(&m, "open", key);
  lull_add_number(&m, "uid", uid);
  lull_add_text(&m, "cluster", *cluster != '\0' ? cluster : name);
  lull_add_text(&m, "job", job);
  lull_add_text(&m, "project", project);
  lull_add_text(&m, "cgroup", cgroup);
  lull_add_number(&m, "cpus", count_in(cores) * threads_of_a_core());
  lull_add_number(&m, "memory_mib", (int64_t)memory_mib);
  lull_send(&m, socket_path, answer, sizeof answer);

  if (number_of(spank, S_JOB_STEPID) == batch_step && !is_quiet &&
      socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, passing) != 0)
    passing[0] = passing[1] = -1;
  return 0;
}

/* In the process of the task, as the user, before it becomes the program. */
int slurm_spank_task_init(spank_t spank, int count, char** words) {
  (void)spank, (void)count, (void)words;
  if (passing[1] < 0) return 0;
  char one = 1;
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.bytes = {0}};
  struct iovec data = {.iov_base = &one, .iov_len = 1};
  struct msghdr m = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  struct cmsghdr* const header = CMSG_FIRSTHDR(&m);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int standard_error = STDERR_FILENO;
  memcpy(CMSG_DATA(header), &standard_error, sizeof standard_error);
  sendmsg(passing[1], &m, MSG_NOSIGNAL);
  return 0;
}

static void report_cpu_time(int64_t restart) {
  static struct lull_message m;
  const int64_t usage_us = lull_usage_us(cgroup);
  if (usage_us < 0) return;
  lull_begin(&m, "used", key);
  lull_add_number(&m, "usage_us", usage_us);
  if (restart >= 0) lull_add_number(&m, "restart", restart);
  lull_send(&m, socket_path, NULL, 0);
}

/* How often the job was started before. Slurm 22.05 has it in the environment of steps once their tasks have started, but
 * not in that of the extern step; the epilog of a job that is requeued has the next count already. */
static int64_t restart_of(spank_t spank) {
  char text[16] = "0";
  if (number_of(spank, S_JOB_STEPID) == extern_step) return -1;
  spank_getenv(spank, "SLURM_RESTART_COUNT", text, sizeof text);
  return atoll(text);
}

int slurm_spank_task_exit(spank_t spank, int count, char** words) {
  (void)spank, (void)count, (void)words;
  if (is_remote()) report_cpu_time(-1);
  return 0;
}

/* The stderr that the task has passed, or -1. */
static int passed(void) {
  char one;
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {.bytes = {0}};
  struct iovec data = {.iov_base = &one, .iov_len = 1};
  struct msghdr m = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  int fd = -1;
  if (passing[0] < 0 || recvmsg(passing[0], &m, MSG_CMSG_CLOEXEC) <= 0) return -1;
  const struct cmsghdr* const header = CMSG_FIRSTHDR(&m);
  if (header != NULL && header->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

/* The child inherits slurmstepd's blocked signals, which SIGALRM must not be. */
static void write_as_nobody(int fd, const char* line, size_t length) {
  const pid_t child = fork();
  if (child == 0) {
    sigset_t all;
    sigfillset(&all);
    signal(SIGALRM, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    const struct itimerval end = {.it_value = {.tv_sec = seconds_to_write}};
    setitimer(ITIMER_REAL, &end, NULL);
    if (setgroups(0, NULL) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0) _exit(1);
    _exit(write(fd, line, length) == (ssize_t)length ? 0 : 1);
  }
  /* A moment, so that usually the line is there when the job is over. */
  for (int i = 0; child > 0 && i < 20 && waitpid(child, NULL, WNOHANG) == 0; ++i) poll(NULL, 0, 5);
}

int slurm_spank_exit(spank_t spank, int count, char** words) {
  (void)count, (void)words;
  if (!is_remote() || *key == '\0') return 0;
  report_cpu_time(restart_of(spank));
  const int fd = passed();
  if (fd < 0 || is_quiet) return 0;
  static struct lull_message m;
  static char answer[lull_longest_answer];
  lull_begin(&m, "figures", key);
  if (lull_send(&m, socket_path, answer, sizeof answer) == 0 && strstr(answer, "\"energy\":[{") != NULL) {
    const char* const kinds[] = {"estimated", "derived", "vendor-model", "measured"}; /* the weakest first */
    const char* kind = "simulated";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
      char quoted[32];
      snprintf(quoted, sizeof quoted, "\"kind\":\"%s\"", kinds[i]);
      if (strstr(answer, quoted) == NULL) continue;
      kind = kinds[i];
      break;
    }
    const bool is_shared = strstr(answer, "\"alone\":false") != NULL;
    char line[512], more[64] = "";
    if (access(site_file, F_OK) == 0)
      snprintf(more, sizeof more, "; all nodes: lull jobs %u", number_of(spank, S_JOB_ID));
    const int length = snprintf(line, sizeof line,
                                "lull: job %u used %.1f J here (%.1f to %.1f, %s%s) in %.1f s with %.2f CPU s: %.1f J "
                                "by its work, %.1f J of idle power held%s%s\n",
                                number_of(spank, S_JOB_ID), lull_sum_of(answer, "uj") / 1e6,
                                lull_sum_of(answer, "low_uj") / 1e6, lull_sum_of(answer, "high_uj") / 1e6, kind,
                                is_shared ? ": the node was shared" : "", lull_sum_of(answer, "seconds"),
                                lull_sum_of(answer, "cpu_us") / 1e6, lull_sum_of(answer, "active_uj") / 1e6,
                                lull_sum_of(answer, "held_uj") / 1e6, is_shared ? "" : ", the rest by the node", more);
    if (length > 0 && length < (int)sizeof line) write_as_nobody(fd, line, (size_t)length);
  }
  close(fd);
  return 0;
}

/* A process of its own, by slurmd, before the first step. Only its environment has the number of the start on nodes without
 * a batch script; that of the epilog of a job that is requeued has the next one already. */
int slurm_spank_job_prolog(spank_t spank, int count, char** words) {
  static struct lull_message m;
  const char* const uid = getenv("SLURM_JOB_UID");
  const char* const restart = getenv("SLURM_JOB_RESTART_COUNT");
  const char* const nodes = getenv("SLURM_JOB_NUM_NODES");
  char job[16];
  take_arguments(count, words);
  find_key(spank);
  if (uid == NULL) return 0;
  snprintf(job, sizeof job, "%u", number_of(spank, S_JOB_ID));
  lull_begin(&m, "open", key);
  lull_add_number(&m, "uid", atoll(uid));
  lull_add_text(&m, "cluster", *cluster != '\0' ? cluster : getenv("SLURM_CLUSTER_NAME"));
  lull_add_text(&m, "job", job);
  lull_add_text(&m, "project", getenv("SLURM_JOB_ACCOUNT"));
  if (restart != NULL) lull_add_number(&m, "restart", atoll(restart));
  if (nodes != NULL) lull_add_number(&m, "nodes", atoll(nodes));
  lull_send(&m, socket_path, NULL, 0);
  return 0;
}

/* A process of its own, by slurmd, after all steps have ended. Its environment has what steps do not know. */
int slurm_spank_job_epilog(spank_t spank, int count, char** words) {
  static struct lull_message m;
  take_arguments(count, words);
  find_key(spank);
  lull_begin(&m, "close", key);
  lull_add_text(&m, "cluster", *cluster != '\0' ? cluster : getenv("SLURM_CLUSTER_NAME"));
  lull_add_text(&m, "project", getenv("SLURM_JOB_ACCOUNT"));
  const char* const nodes = getenv("SLURM_JOB_NUM_NODES");
  if (nodes != NULL) lull_add_number(&m, "nodes", atoll(nodes));
  lull_send(&m, socket_path, NULL, 0);
  return 0;
}
