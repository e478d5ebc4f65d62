// gpu_patterns: a payload in fragments between the memory of the host and of a GPU, by different access patterns.
//
// The patterns of access_patterns over PCIe, where NVML counts the energy of the GPU: M copies into pinned memory, P
// transfers asynchronously, Q synchronises the stream. For each number of fragments: latency, bandwidth, rate of
// transfers. Time and energy are those of the region "pattern"; what has arrived is read back and compared.
//
// Without a driver or a GPU it prints a line and exits with 0.
#include <fmt/format.h>
#include <lull/meter.h>

#include <cstdio>
#include <new>
#include <string>

#include "bench.hpp"
#include "driver.hpp"
#include "options.hpp"

namespace {

using namespace gpu_patterns;

const char* memory_of(const options& wanted) { return wanted.pageable ? "pageable" : "pinned"; }
const char* direction_of(const options& wanted) { return wanted.from_gpu ? "from" : "to"; }
const char* wait_of(const options& wanted) {
  return wanted.wait == waiting::spin ? "spin" : wanted.wait == waiting::yield ? "yield" : "block";
}

void print_head(const options& wanted, const std::string& gpu) {
  fmt::print("gpu_patterns: {} bytes, {}, {} GPU {}, {}, waiting by {}\n", wanted.payload, memory_of(wanted),
             direction_of(wanted), wanted.device, gpu, wait_of(wanted));
  fmt::print("{:<10} {:>10} {:>12} {:>10} {:>10} {:>10} {:>12} {:>10}\n", "pattern", "fragments", "latency us", "p10",
             "p90", "GB/s", "copies/s", "CPU us");
}

void print(const options& wanted, const std::string& gpu, const std::string& word, std::uint64_t fragments,
           const result& seen) {
  if (wanted.json)
    fmt::print(
        "{{\"pattern\": \"{}\", \"fragments\": {}, \"fragment_bytes\": {}, \"payload\": {}, \"memory\": \"{}\", "
        "\"direction\": \"{}\", \"wait\": \"{}\", \"gpu\": \"{}\", \"payloads\": {}, \"latency_us\": {:.9g}, "
        "\"p10_us\": {:.9g}, "
        "\"p90_us\": {:.9g}, \"gb_per_s\": {:.9g}, \"copies_per_s\": {:.9g}, \"cpu_us\": {:.9g}, \"verified\": {}}}\n",
        word, fragments, wanted.payload / fragments, wanted.payload, memory_of(wanted), direction_of(wanted),
        wait_of(wanted), gpu, seen.payloads, seen.latency_us, seen.p10_us, seen.p90_us, seen.gb_per_s,
        seen.copies_per_s, seen.cpu_us, seen.right);
  else
    fmt::print("{:<10} {:>10} {:>12.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>12.4g} {:>10.4g}{}\n", word, fragments,
               seen.latency_us, seen.p10_us, seen.p90_us, seen.gb_per_s, seen.copies_per_s, seen.cpu_us,
               seen.right ? "" : "  WRONG");
  std::fflush(stdout);
}

void report(const result& last, double payloads, double megabytes) {
  lull_metric_sum("MB", megabytes, "MB");
  lull_metric_sum("payloads", payloads, "1");
  lull_metric_mean("latency_us", last.latency_us, "us");
  lull_metric_mean("gb_per_s", last.gb_per_s, "GB/s");
  lull_metric_mean("copies_per_s", last.copies_per_s, "1/s");
  lull_metric_mean("cpu_us", last.cpu_us, "us");
}

int run(const options& wanted) {
  const library cuda;
  const device gpu(cuda, wanted.device, wanted.wait);
  bench measured(cuda, wanted);
  if (!wanted.json) print_head(wanted, gpu.name());
  bool right = true;
  double payloads = 0;
  result last;
  for (const std::uint64_t fragments : wanted.fragments)
    for (const access_patterns::pattern& of : wanted.patterns) {
      last = measured.measure(of, fragments);
      print(wanted, gpu.name(), of.word, fragments, last);
      right = right && last.right;
      payloads += static_cast<double>(last.payloads);
    }
  report(last, payloads, payloads * static_cast<double>(wanted.payload) * 1e-6);
  if (!wanted.json) fmt::print("result {}\n", right ? "verified" : "WRONG");
  return right ? 0 : 1;
}

int refuse(const char* line, int code) {
  fmt::print(stderr, "gpu_patterns: {}\n", line);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const access_patterns::help_wanted& help) {
    fmt::print("{}", help.what());
    return 0;
  } catch (const access_patterns::usage_error& mistake) {
    return refuse(mistake.what(), 2);
  } catch (const no_gpu& missing) {
    return refuse(fmt::format("no GPU, nothing measured: {}", missing.what()).c_str(), 0);
  } catch (const std::bad_alloc&) {
    return refuse("the host has too little memory for this payload; give a smaller --payload", 1);
  } catch (const std::exception& failure) {
    return refuse(failure.what(), 1);
  }
}
