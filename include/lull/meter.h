/* Regions and metrics of a program, for the record of its run (library lull-meter: -llull-meter).
 *
 *     lull_region_begin("exchange");
 *     ...
 *     lull_region_end("exchange");
 *     lull_metric_sum("updates", 1e9, "1");
 *
 * `lull measure -- ./program` then shows time and energy of each region, and the metrics beside them. It does so by
 * setting LULL_RECORD to a folder; without it these calls check their arguments and do nothing (some 10 ns).
 *
 * Each process writes one file into that folder, regions-<host>-<pid>.json, when it exits normally (return from main or
 * exit(); not _exit() or a signal) and at lull_region_flush(). Times are CLOCK_MONOTONIC in nanoseconds, CPU times are
 * those of all threads of the process, in nanoseconds.
 *
 * All calls are thread-safe. Regions nest within their thread and may be repeated and stand in several threads at once.
 * A region open at exit ends there. A forked child starts without regions and writes a file of its own.
 *
 * Each call returns 0 (LULL_METER_OK) or one of the negative codes below; none of them ends the program. */
#ifndef LULL_METER_H
#define LULL_METER_H

#define LULL_METER_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum lull_meter_code {
  LULL_METER_OK = 0,
  LULL_METER_BAD_NAME = -1,      /* the name is NULL or empty */
  LULL_METER_BAD_VALUE = -2,     /* the value of a metric is infinite or not a number */
  LULL_METER_NOT_INNERMOST = -3, /* this thread's innermost open region has another name, or there is none */
  LULL_METER_NOT_WRITTEN = -4,   /* the file could not be written; errno says why */
  LULL_METER_NO_MEMORY = -5,
  LULL_METER_CONFLICT = -6 /* the metric was reported before with another unit, or combined in another way */
};

/* Enter a region. The name is copied; UTF-8. */
LULL_METER_API int lull_region_begin(const char* name);

/* Leave the region this thread entered last, which must be of this name; otherwise nothing changes. */
LULL_METER_API int lull_region_end(const char* name);

/* Report a figure of the program's own. The call says how the record makes one figure of those of several processes:
 *
 *   sum       work and rates: lull_metric_sum("updates", 1e9, "1"), lull_metric_sum("throughput", 2.5e9, "B/s")
 *   mean      over the processes that reported it, each counting the same: lull_metric_mean("latency", 1.7e-6, "s")
 *   min, max  the smallest, the largest of them
 *
 * Within a process the last report of a name counts: it replaces the one before. A name has one unit and one of these
 * ways; a report that differs from an earlier one of the process is refused (LULL_METER_CONFLICT), and a metric about
 * which processes differ is left out of the record, with a line that says so. `unit` may be NULL: none. */
LULL_METER_API int lull_metric_sum(const char* name, double value, const char* unit);
LULL_METER_API int lull_metric_mean(const char* name, double value, const char* unit);
LULL_METER_API int lull_metric_min(const char* name, double value, const char* unit);
LULL_METER_API int lull_metric_max(const char* name, double value, const char* unit);

/* Write the file now, in place of an earlier one; regions still open are written as ending now. */
LULL_METER_API int lull_region_flush(void);

/* What a code means: one line, static storage, never NULL. */
LULL_METER_API const char* lull_meter_strerror(int code);

#ifdef __cplusplus
}

namespace lull {

/* The region from here to the end of the scope. Errors are ignored: a program runs on without its measurements. */
class region {
 public:
  explicit region(const char* name) : name_(name) { entered_ = lull_region_begin(name_) == LULL_METER_OK; }
  region(const region&) = delete;
  region& operator=(const region&) = delete;
  ~region() {
    if (entered_) lull_region_end(name_);
  }

 private:
  const char* name_; /* must outlive the region; a literal does */
  bool entered_;
};

} /* namespace lull */
#endif
#endif
