#include "stage/programs/staging.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "stage/accounts/choice.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/blocks/outlet.hpp"
#include "stage/link/agreed_exchange.hpp"
#include "stage/processes/client.hpp"
#include "stage/processes/server.hpp"
#include "stage/programs/hdf5_files.hpp"
#include "stage/programs/server_process.hpp"

namespace lull::stage {
namespace {

// Set if something could not be written. exit_code: the program's, as far as known.
bool failed = false;
int exit_code = 0;

[[gnu::destructor]] void exit_with_failure() {
  if (!failed || exit_code != 0) return;
  std::fflush(nullptr);
  _exit(EXIT_FAILURE);
}

void say(const std::string& line) noexcept { fmt::print(stderr, "lull: {}\n", line); }

void fail(const std::string& line) noexcept {
  say(line);
  if (!failed) on_exit([](int code, void*) { exit_code = code; }, nullptr);
  failed = true;
}

// Counts of one client, or the sum over several.
struct counts {
  client_figures figures;
  std::int64_t created = 0;
};

counts sum_of(const std::vector<std::vector<std::byte>>& messages) {
  counts sum;
  for (const std::vector<std::byte>& one : messages) {
    counts of_client;
    std::memcpy(&of_client, one.data(), sizeof of_client);
    sum.figures += of_client.figures;
    sum.created += of_client.created;
  }
  return sum;
}

// The destination of what the program hands over through lull/stage.h.
class outlet_of_client final : public outlet {
 public:
  explicit outlet_of_client(client& by) : by_(by) {}
  [[nodiscard]] bool hand_over(staged_file&& finished) override {
    const not_the_program here;
    const std::int64_t begin = now_ns();
    handed_over.add(finished.bytes());
    const bool taken = by_.hand_over_as_it_is(std::move(finished));
    nanoseconds += now_ns() - begin;
    return taken;
  }
  [[nodiscard]] std::vector<std::string> look() override {
    const not_the_program here;
    return by_.failures();
  }

  amount handed_over;
  std::int64_t nanoseconds = 0;

 private:
  client& by_;
};

outlet* outlet_of_process = nullptr;

class staging_of_program final : public staging {
 public:
  explicit staging_of_program(exchange& all)
      : nodes_(nodes_by_rank(all)),
        plan_(chosen(plan_of_settings(), nodes_)),
        roles_(plan_, nodes_),
        rank_(all.rank()) {
    plan_.start_keeper = start_keeper;
    plan_.begin_thread = begin_own_thread;
    const std::vector<int> clients = roles_.clients();
    sets_aside_ = static_cast<int>(clients.size()) < roles_.processes();
    is_reporter_ = clients.front() == rank_;
    have_same_plan(all);
    if (plan_.by_model && is_reporter_)
      say(fmt::format("stage the program's output: auto takes {}, by the model, without figures of an earlier run{}",
                      name_of(plan_),
                      sets_aside_ ? fmt::format("; the program sees {} of {} ranks", clients.size(), roles_.processes())
                                  : std::string()));
  }

  [[nodiscard]] bool sets_aside() const override { return sets_aside_; }
  [[nodiscard]] bool is_server() const override { return roles_.is_server(rank_); }

  [[nodiscard]] bool shares_files() const override { return stage::shares_files(plan_); }

  [[nodiscard]] int serve(exchange& all) noexcept override try {
    try {
      return serve_in_own_process(all, nodes_);
    } catch (const error& problem) {
      say(fmt::format("{}; its rank serves instead", problem.what()));
    }
    int code = 0;
    const bool served = agreed_exchange(all, writes_itself).together([&](exchange& others) {
      code = stage::serve(plan_, roles_, others);
    });
    return served ? code : 0;
  } catch (const std::exception& problem) {
    say(problem.what());
    return cannot_serve;
  }

  [[nodiscard]] bool join(exchange& all) noexcept override try {
    joined_ns_ = now_ns();
    joined_cpu_ns_ = process_cpu_ns();
    const bool joined = agreed_exchange(all, writes_itself).together([this](exchange& others) {
      client_ = client::join(plan_, roles_, others);
    });
    if (!joined) return false;
    outlet_ = std::make_unique<outlet_of_client>(*client_);
    outlet_of_process = outlet_.get();
    if (!stage_hdf5_files(*client_, roles_.server_of(rank_) != no_server, is_reporter_) && is_reporter_)
      say("stage the program's output: liblull-hdf5.so is not preloaded; start the program by `lull stage`");
    return true;
  } catch (const std::exception& problem) {  // the others count on this process from here on
    say(problem.what());
    return true;
  }

  shared_files* files() noexcept override { return client_ ? &client_->shared() : nullptr; }
  void complete_file(const std::string& path) noexcept override { complete_whole_file(path); }
  void begin_own_calls() noexcept override { enter_own_calls(); }
  void end_own_calls() noexcept override { exit_own_calls(); }

  void leave(exchange& clients) noexcept override try {
    counts mine;
    try {
      mine = end();
    } catch (const std::exception& problem) {  // the others wait for the counts in any case
      fail(problem.what());
    }
    const counts sum = sum_of(clients.all(std::as_bytes(std::span(&mine, 1))));
    if (is_reporter_) report(sum);
  } catch (const std::exception& problem) {
    fail(problem.what());
  }

 private:
  // Otherwise ranks would have different roles, and make different calls. All ranks throw, or none.
  void have_same_plan(exchange& all) const {
    const std::string mine =
        fmt::format("{}, {} bytes of buffer, {} bytes/s, {}, {}, {}", name_of(plan_), plan_.buffer_bytes,
                    plan_.storage_bytes_per_s, plan_.close_waits, plan_.sync_waits, plan_.verify_in);
    const auto plans = all.all(std::as_bytes(std::span(mine)));
    const auto other = std::ranges::find_if(plans, [&](const auto& one) { return one != plans[0]; });
    if (other == plans.end()) return;
    throw usage_error("stage the program's output",
                      fmt::format("rank {} has other settings LULL_STAGE... than rank 0", other - plans.begin()),
                      "start all ranks with the same");
  }

  // Waits until all of this process's output is written.
  counts end() {
    outlet_of_process = nullptr;
    const file_counts files = end_staging_hdf5_files();
    if (files.missed) fail("the program has read files of other processes that were not written");
    try {
      client_->leave();
    } catch (const std::exception& problem) {
      fail(problem.what());
    }
    for (const std::string& line : client_->failures()) fail(line);
    const std::uint64_t shared_writes = client_->shared().calls();
    client_.reset();
    counts mine;
    mine.figures.processes = 1;
    mine.figures.wall_ns = now_ns() - joined_ns_;
    mine.figures.cpu_ns = process_cpu_ns() - joined_cpu_ns_;
    mine.figures.writing_ns = files.nanoseconds;
    mine.figures.wrote_itself = {files.written_by_program, files.bytes};
    mine.figures.others = files.others;
    mine.created = files.created + static_cast<std::int64_t>(shared_writes);
    if (outlet_) {
      mine.figures.writing_ns += outlet_->nanoseconds;
      mine.figures.wrote_itself += outlet_->handed_over;
      mine.created += static_cast<std::int64_t>(outlet_->handed_over.files);
    }
    return mine;
  }

  // Servers print the cost of their clients' output.
  void report(const counts& sum) const {
    if (sum.created == 0)
      say(fmt::format(
          "stage the program's output by {}: neither HDF5 nor MPI-IO wrote a file; either the program writes "
          "none, or one of the two is linked statically into it: link it with the shared library",
          name_of(plan_)));
    else if (!sets_aside_)
      stage::report(plan_, {sum.figures, {}, static_cast<int>(std::set(nodes_.begin(), nodes_.end()).size())});
  }

  std::vector<std::string> nodes_;
  plan plan_;
  roles roles_;
  int rank_;
  bool sets_aside_ = false;
  bool is_reporter_ = false;
  std::int64_t joined_ns_ = 0;
  std::int64_t joined_cpu_ns_ = 0;
  std::unique_ptr<client> client_;
  std::unique_ptr<outlet_of_client> outlet_;
};

}  // namespace
}  // namespace lull::stage

lull::stage::outlet* lull_stage_outlet() noexcept { return lull::stage::outlet_of_process; }

lull::stage::staging* lull_stage_begin(lull::stage::exchange& all) {
  std::unique_ptr<lull::stage::staging> made;
  const auto begin = [&made](lull::stage::exchange& others) {
    made = std::make_unique<lull::stage::staging_of_program>(others);
  };
  return lull::stage::agreed_exchange(all, lull::stage::writes_itself).together(begin) ? made.release() : nullptr;
}
