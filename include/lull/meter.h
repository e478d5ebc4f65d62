/* Regions and metrics of a program, for the record of its run. Link with lull-meter.
 *
 *     lull_region_begin("exchange");
 *     ...
 *     lull_region_end("exchange");
 *     lull_metric_sum("updates", 1e9, "1");
 *
 * `lull measure -- ./program` then shows time and energy of each region, and the metrics beside them. It sets
 * LULL_RECORD to a folder. Without that variable these calls check their arguments and do nothing (some 10 ns).
 *
 * Each process writes one file into that folder, regions-<host>-<pid>.json: when it exits normally (return from main or
 * exit(); not _exit() or a signal), and at lull_region_flush(). Times are CLOCK_MONOTONIC in nanoseconds; CPU times, also
 * in nanoseconds, are those of all threads of the process.
 *
 * Threads. Any thread may call any function at any time. Regions nest within their thread; a region may be entered many
 * times, and by several threads at once. A region that is open at exit ends there. A forked child starts without regions
 * and writes a file of its own.
 *
 * Errors. Each call returns 0 (LULL_METER_OK) or one of the negative codes below; none of them ends the program. */
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
  LULL_METER_CONFLICT = -6 /* an earlier report of this metric had another unit or another combination */
};

/* Enters a region. `name` is UTF-8; the call copies it. */
LULL_METER_API int lull_region_begin(const char* name);

/* Leaves the region that this thread entered last. If that has another name, the call has no effect. */
LULL_METER_API int lull_region_end(const char* name);

/* Reports a metric of the program. The function names how the record combines the values of several processes:
 *
 *   sum       for work and rates: lull_metric_sum("updates", 1e9, "1"), lull_metric_sum("throughput", 2.5e9, "B/s")
 *   mean      of the processes that reported it, with equal weights: lull_metric_mean("latency", 1.7e-6, "s")
 *   min, max  the smallest, the largest value
 *
 * Within a process the latest report of a name replaces earlier ones. A name has one unit and one combination; a report
 * with another one fails with LULL_METER_CONFLICT. A metric about which processes differ is left out of the record, with
 * a line that says so. `unit` may be NULL, for none. The call copies both strings. */
LULL_METER_API int lull_metric_sum(const char* name, double value, const char* unit);
LULL_METER_API int lull_metric_mean(const char* name, double value, const char* unit);
LULL_METER_API int lull_metric_min(const char* name, double value, const char* unit);
LULL_METER_API int lull_metric_max(const char* name, double value, const char* unit);

/* Writes the file now, replacing an earlier one. Regions that are open are written as if they ended now. */
LULL_METER_API int lull_region_flush(void);

/* Describes a code in one line, in static storage; never NULL. */
LULL_METER_API const char* lull_meter_strerror(int code);

#ifdef __cplusplus
}

namespace lull {

/* A region from here to the end of the scope. Errors are ignored: the program continues without its measurements. */
class region {
 public:
  explicit region(const char* name) : name_(name) { entered_ = lull_region_begin(name_) == LULL_METER_OK; }
  region(const region&) = delete;
  region& operator=(const region&) = delete;
  ~region() {
    if (entered_) lull_region_end(name_);
  }

 private:
  const char* name_; /* not copied: must outlive the region, as a literal does */
  bool entered_;
};

} /* namespace lull */
#endif
#endif
