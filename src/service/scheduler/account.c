/* lull-account: reports the beginning and the end of a job to the service of this node, from a prolog and an epilog.
 *
 *   lull-account open|used|close|figures [--key KEY] [--uid UID] [...]
 *
 * What is not given comes from the environment that Slurm and Flux give to their prologs. It prints the service's answer.
 * A service that does not answer is one line on stderr and delays the job by at most 0.2 s. Since a scheduler takes a node
 * whose prolog fails out of service, only a mistake in the call is an exit status other than 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/scheduler/wire.h"

/* Which messages have a field: open and close; open; used and close. */
enum part { name, opening, usage };

struct field {
  const char* option; /* and, with '_' for '-', the name in the message */
  bool is_number;
  enum part part;
  const char* slurm; /* variables of the environment */
  const char* flux;
  const char* help;
  const char* value;
};

enum { uid_field = 0, job_field = 1, cgroup_field = 6 }; /* of `fields` */

static struct field fields[] = {
    {"uid", true, opening, "SLURM_JOB_UID", "FLUX_JOB_USERID", "user of the job", NULL},
    {"job", false, name, "SLURM_JOB_ID", "FLUX_JOB_ID", "the scheduler's id of the job", NULL},
    {"cluster", false, name, "SLURM_CLUSTER_NAME", NULL, "name of the cluster", NULL},
    {"restart", true, opening, "SLURM_JOB_RESTART_COUNT", NULL, "how often the job was started before", NULL},
    {"nodes", true, name, "SLURM_JOB_NUM_NODES", NULL, "number of nodes of the job", NULL},
    {"project", false, name, "SLURM_JOB_ACCOUNT", NULL, "project of the job", NULL},
    {"cgroup", false, opening, NULL, NULL, "path of the job in cgroup v2, from its root", NULL},
    {"cpus", true, opening, NULL, NULL, "hardware threads that the job holds on this node", NULL},
    {"memory-mib", true, opening, NULL, NULL, "memory that the job holds on this node", NULL},
    {"usage-us", true, usage, NULL, NULL, "CPU time of the cgroup, if it cannot be read", NULL},
};
enum { field_count = sizeof fields / sizeof *fields };

static void print_help(void) {
  puts(
      "Usage: lull-account open|used|close|figures [OPTIONS]\n\n"
      "Reports the beginning and the end of a job to lull-meterd, from a prolog and an epilog.\n");
  puts("  --key KEY            account; by default SCHEDULER.JOB");
  for (int i = 0; i < field_count; ++i) {
    char option[32];
    snprintf(option, sizeof option, "--%s %s", fields[i].option, fields[i].is_number ? "N" : "TEXT");
    printf("  %-20s %s", option, fields[i].help);
    if (fields[i].slurm != NULL) printf("; by default $%s", fields[i].slurm);
    if (fields[i].flux != NULL) printf(" or $%s", fields[i].flux);
    putchar('\n');
  }
  puts("  --socket PATH        of the service; by default " LULL_ACCOUNTS_SOCKET);
}

static int fail(const char* problem, const char* what, const char* fix) {
  fprintf(stderr, "lull-account: report the job: %s%s; %s\n", problem, what, fix);
  return 2;
}

static bool is_whole_number(const char* text) {
  return *text != '\0' && strlen(text) <= 15 && strspn(text, "0123456789") == strlen(text);
}

/* Takes what is missing from the scheduler's environment; returns the scheduler's name. */
static const char* take_environment(void) {
  const bool is_flux = getenv("SLURM_JOB_ID") == NULL && getenv("FLUX_JOB_ID") != NULL;
  for (int i = 0; i < field_count; ++i) {
    const char* const variable = is_flux ? fields[i].flux : fields[i].slurm;
    if (fields[i].value == NULL && variable != NULL) fields[i].value = getenv(variable);
  }
  return is_flux ? "flux" : "slurm";
}

static int parse(int argc, char** argv, const char** key, const char** socket_path) {
  struct option options[field_count + 4] = {{0}};
  for (int i = 0; i < field_count; ++i) options[i] = (struct option){fields[i].option, required_argument, NULL, i};
  options[field_count] = (struct option){"key", required_argument, NULL, field_count};
  options[field_count + 1] = (struct option){"socket", required_argument, NULL, field_count + 1};
  options[field_count + 2] = (struct option){"help", no_argument, NULL, field_count + 2};
  opterr = 0;
  for (int found; (found = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    if (found == '?' || found == ':')
      return fail("unknown option or no value: ", argv[optind - 1], "--help lists them");
    if (found == field_count)
      *key = optarg;
    else if (found == field_count + 1)
      *socket_path = optarg;
    else if (found == field_count + 2)
      return print_help(), -1;
    else
      fields[found].value = optarg;
  }
  return 0;
}

static void add(struct lull_message* m, const struct field* f) {
  char in_message[32];
  snprintf(in_message, sizeof in_message, "%s", f->option);
  for (char* c = in_message; *c != '\0'; ++c)
    if (*c == '-') *c = '_';
  if (f->is_number)
    lull_add_number(m, in_message, atoll(f->value));
  else
    lull_add_text(m, in_message, f->value);
}

int main(int argc, char** argv) {
  const char* key = NULL;
  const char* socket_path = LULL_ACCOUNTS_SOCKET;
  const int status = parse(argc, argv, &key, &socket_path);
  if (status != 0) return status < 0 ? 0 : status;
  const char* const ask = optind + 1 == argc ? argv[optind] : "";
  const bool opens = strcmp(ask, "open") == 0, uses = strcmp(ask, "used") == 0, closes = strcmp(ask, "close") == 0;
  if (!opens && !uses && !closes && strcmp(ask, "figures") != 0)
    return fail("there is not one of open, used, close, figures", "", "name one; --help lists the options");
  const char* const scheduler = take_environment();
  for (int i = 0; i < field_count; ++i)
    if (fields[i].is_number && fields[i].value != NULL && !is_whole_number(fields[i].value))
      return fail("not a whole number: ", fields[i].value, "correct it");
  char own_key[256];
  if (key == NULL) {
    if (fields[job_field].value == NULL) return fail("it has no id", "", "give --job, or call it from a prolog");
    snprintf(own_key, sizeof own_key, "%s.%s", scheduler, fields[job_field].value);
    key = own_key;
  }
  if (opens && fields[uid_field].value == NULL)
    return fail("it has no user", "", "give --uid, or call it from a prolog");

  static struct lull_message m;
  static char answer[lull_longest_answer];
  lull_begin(&m, ask, key);
  for (int i = 0; i < field_count; ++i) {
    const enum part part = fields[i].part;
    const bool is_in = part == opening ? opens : closes || (part == name ? opens : uses);
    if (fields[i].value != NULL && is_in) add(&m, &fields[i]);
  }
  const bool has_usage = fields[field_count - 1].value != NULL;
  if (!has_usage && (uses || closes)) {
    const char* const cgroup = fields[cgroup_field].value;
    const int64_t usage_us = cgroup != NULL ? lull_usage_us(cgroup) : -1;
    if (usage_us >= 0) lull_add_number(&m, "usage_us", usage_us);
    if (usage_us < 0 && uses) return fail("its CPU time is unknown", "", "give --cgroup or --usage-us");
  }
  const int error = lull_send(&m, socket_path, answer, sizeof answer);
  if (error != 0)
    fprintf(stderr, "lull-account: report to %s: %s; see systemctl status lull-meterd\n", socket_path,
            error == ETIMEDOUT ? "sent, but there was no answer in 0.2 s" : strerror(error));
  else
    puts(answer);
  return 0;
}
