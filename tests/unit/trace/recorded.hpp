// Records like those of traced processes, written by tests: a tick is a nanosecond.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trace/events.hpp"
#include "trace/raw.hpp"

namespace lull::trace {

// The functions to which records refer by number.
enum : std::uint16_t {
  init,
  finalize,
  send_f,
  receive_f,
  isend_f,
  irecv_f,
  wait_f,
  barrier_f,
  bcast_f,
  reduce_f,
  ibarrier_f,
  put_f,
  fence_f
};
inline const std::vector<std::string> function_names{
    "MPI_Init",    "MPI_Finalize", "MPI_Send",   "MPI_Recv",     "MPI_Isend", "MPI_Irecv",    "MPI_Wait",
    "MPI_Barrier", "MPI_Bcast",    "MPI_Reduce", "MPI_Ibarrier", "MPI_Put",   "MPI_Win_fence"};

struct recorded_process {
  int rank = 0, size = 2;
  std::string host = "h1", boot = "b1", job = "j";
  int pid = 0;                // 0: 100 + rank
  std::int64_t clock_ns = 0;  // how far the clock of its host is ahead
  std::uint64_t begin = 1000, end = 1'000'000;
  bool killed = false;
  std::size_t page = 4096;   // of the machine that recorded
  std::string library = "";  // "-2" for a second one of the same process
  std::vector<std::vector<record>> threads{{}};
  std::vector<nlohmann::json> definitions = {};  // in addition to the common ones

  void leave_in(const std::filesystem::path& raw) const {
    std::filesystem::create_directories(raw);
    const int number = pid == 0 ? 100 + rank : pid;
    const std::string name = fmt::format("{}-{}{}", host, number, library);
    std::ofstream text(raw / (name + ".definitions"));
    const auto clocks = [&](std::uint64_t ticks) {
      const auto ns = static_cast<std::int64_t>(ticks);
      text << nlohmann::json{{"is", "clocks"},
                             {"ticks", ticks},
                             {"monotonic_ns", ns},
                             {"realtime_ns", 1'000'000'000 + ns + clock_ns}}
           << '\n';
    };
    text << nlohmann::json{{"is", "process"}, {"version", raw_version}, {"host", host}, {"boot", boot}, {"pid", number},
                           {"job", job},      {"program", "app"}}
         << '\n';
    clocks(begin);
    text << nlohmann::json{{"is", "rank"}, {"rank", rank}, {"size", size}, {"paradigm", "mpi"}, {"library", "L"}}
         << '\n';
    text << nlohmann::json{{"is", "regions"}, {"paradigm", "mpi"}, {"first", 0}, {"names", function_names}} << '\n';
    text << nlohmann::json{{"is", "communicator"},
                           {"ticks", 0},
                           {"number", 0},
                           {"members", {{0, size}}},
                           {"name", "MPI_COMM_WORLD"}}
         << '\n';
    for (const auto& line : definitions) text << line << '\n';
    clocks(end);
    if (!killed) text << R"({"is":"end"})" << '\n';
    if (killed) text << R"({"is":"clo)";  // it was about to write this
    for (std::size_t t = 0; t < threads.size(); ++t) {
      std::ofstream file(raw / fmt::format("{}.{}.records", name, t), std::ios::binary);
      const log_header header{.magic = raw_magic,
                              .version = raw_version,
                              .first_record = static_cast<std::uint32_t>(page + 4096),
                              .window_bytes = 4096,
                              .folding_bytes = 0,
                              .thread = static_cast<std::uint64_t>(number) + t,
                              .lost = 0,
                              .saved = 0,
                              .base = 0x1000,
                              .next = killed ? 0x1000 + threads[t].size() * sizeof(record) : 0x1000};
      std::string head(page, '\0');
      std::memcpy(head.data(), &header, sizeof header);
      file.write(head.data(), static_cast<std::streamsize>(page));
      // A killed process has its records still in the window, which these tests never fill.
      std::string window(4096, 'x');
      const auto bytes = threads[t].size() * sizeof(record);
      if (killed) std::memcpy(window.data(), threads[t].data(), bytes);
      file.write(window.data(), 4096);
      if (!killed) file.write(reinterpret_cast<const char*>(threads[t].data()), static_cast<std::streamsize>(bytes));
    }
  }
};

inline record call_of(kind what, std::uint16_t region, std::uint64_t begin, std::uint64_t end, int peer = -1,
                      std::uint64_t bytes = 0, int tag = 0) {
  return {.begin = begin,
          .duration = static_cast<std::uint32_t>(end - begin),
          .region = region,
          .comm = 0,
          .peer = peer,
          .tag = tag,
          .bytes = bytes & 0xffffffff,
          .what = what};
}
inline record more_of(kind what, std::uint64_t handle, int peer = -1, std::uint64_t bytes = 0, int tag = 0) {
  return {.begin = handle, .peer = peer, .tag = tag, .bytes = bytes & 0xffffffff, .what = what};
}

class kept_events : public event_visitor {
 public:
  void on(const event& e) override { events.push_back(e); }
  std::vector<event> events;
};

}  // namespace lull::trace
