#include "stage/processes/client.hpp"

#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/counted.hpp"
#include "base/error.hpp"
#include "stage/accounts/figures.hpp"
#include "stage/approaches/approach.hpp"
#include "stage/files/form.hpp"
#include "stage/link/descriptor_limit.hpp"
#include "stage/processes/expected_sizes.hpp"
#include "stage/processes/joint_account.hpp"
#include "stage/processes/outstanding_files.hpp"
#include "stage/processes/turns.hpp"
#include "stage/shared/nodes/node_link.hpp"

namespace lull::stage {
namespace {

// Whether few descriptors are left: a file in memory costs one more than a plain one.
bool has_few_left(int latest) {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 || static_cast<rlim_t>(latest) >= limit.rlim_cur / 2;
}

std::string random_mark() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(now_ns());
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

class client::state {
 public:
  state(const plan& wanted, joined server, std::size_t share, int rank, storage_limit own_storage,
        std::shared_ptr<directory> of_node)
      : storage(std::move(own_storage)),
        shared(std::move(of_node), {wanted.close_waits, wanted.sync_waits, wanted.verify_in}, storage),
        policy_(wanted.policy),
        sync_(wanted.sync),
        server_(std::move(server)),
        outstanding_(share, server_.most_outstanding),
        served_(server_.up != nullptr),
        rank_(rank) {}

  std::optional<staged_file> begin_file(const std::string& path, bool exclusive);
  std::uint32_t hand_over(staged_file&& finished);
  bool may_grow(staged_file& open, std::size_t by);
  bool flush(staged_file& open);
  void give_to_program(staged_file& open);
  void drop(staged_file&& begun);
  void see_to_files();
  bool hand_over_as_it_is(staged_file&& finished);
  bool written(const std::string& path, bool wait);
  std::vector<std::string> failures();
  void wrote_itself(std::int64_t nanoseconds, std::uint64_t bytes);
  void leave();

  [[nodiscard]] const std::atomic<std::uint32_t>* busy() const noexcept {
    return server_.how_far ? &server_.how_far->busy() : nullptr;
  }
  [[nodiscard]] std::uint32_t latest() const noexcept { return server_.how_far ? mine().handed_over.load() : 0; }
  [[nodiscard]] std::uint32_t failed() const noexcept { return server_.how_far ? mine().failed.load() : 0; }
  [[nodiscard]] bool takes_new_failure() const noexcept {
    if (!server_.how_far) return false;
    const std::uint32_t failed = mine().failed;
    return mine().met.exchange(failed) != failed;
  }
  [[nodiscard]] bool has_failures() const noexcept { return server_.how_far && server_.how_far->has_failures(); }
  [[nodiscard]] bool wait_for_others(const file_identity* place) const noexcept {
    return !server_.how_far || server_.how_far->wait_for_others(rank_, place);
  }
  [[nodiscard]] bool is_written(std::uint32_t count) const noexcept {
    return !server_.how_far || static_cast<std::int32_t>(mine().ended - count) >= 0;
  }
  [[nodiscard]] bool wait_for(std::uint32_t count) const noexcept;

  std::mutex mutex;
  client_figures figures;
  storage_limit storage;
  node_files shared;

 private:
  enum class turn { hand_over, write_here, drop };

  [[nodiscard]] bool served() const { return served_; }
  [[nodiscard]] client_progress& mine() const { return server_.how_far->of(rank_); }
  void ended(const staged_file& file, bool failed);
  void keep_no_longer(staged_file& open);
  [[nodiscard]] destination where(std::uint64_t number, const staged_file& file) const;
  [[nodiscard]] turn turn_for(std::size_t bytes, bool had_room);
  void make_room(std::size_t bytes);
  void wait_until_replaced(const std::string& name);
  bool take_answer(bool wait);  // false: there was none, or the server is gone
  void take_answers();          // all there are
  void handle(const answer& got);
  void wait_for(const std::string& final_path, std::uint64_t before = ~std::uint64_t{0});
  void recover();
  bool write_here(const staged_file& file, const destination& place);
  void note_failure(std::string why);

  when_full policy_;
  bool sync_;
  joined server_;
  outstanding_files outstanding_;
  std::atomic<bool> served_;  // the server lives; what it shares with this process remains afterwards
  int rank_;
  std::string mark_ = random_mark();
  std::uint64_t next_ = 0, own_ = 0;  // counts of files handed over, and written here
  std::uint64_t next_kept_ = 0;
  std::size_t growing_bytes_ = 0;  // of open files in memory
  expected_sizes expected_;
  turns turns_;                        // for when_full::cheapest
  std::vector<std::string> failures_;  // not yet returned by failures()
  std::string first_failure_;
  std::uint64_t failed_ = 0;
  std::int64_t begin_ns_ = now_ns(), begin_cpu_ns_ = process_cpu_ns();
};

destination client::state::where(std::uint64_t number, const staged_file& file) const {
  return {file.final_path(), false, mark_ + "-" + std::to_string(number)};
}

// Decides what happens to output of this size; waits for room if that is the policy.
client::state::turn client::state::turn_for(std::size_t bytes, bool had_room) {
  if (bytes > outstanding_.share()) return ++figures.too_large, turn::write_here;
  const bool here = policy_ == when_full::cheapest ? turns_.writes_itself(had_room)
                                                   : !had_room && policy_ == when_full::write_yourself;
  if (here) return turn::write_here;
  if (!had_room && policy_ == when_full::drop) return turn::drop;
  if (!had_room) make_room(bytes);
  return turn::hand_over;
}

std::optional<staged_file> client::state::begin_file(const std::string& path, bool exclusive) {
  const std::int64_t begin_ns = now_ns();
  take_answers();
  ++figures.wrote_itself.files;  // corrected when it is handed over
  if (!served()) return std::nullopt;
  const auto name = std::filesystem::is_symlink(path) ? std::nullopt : final_path_of(path);
  if (!name) return std::nullopt;
  wait_until_replaced(*name);
  const std::size_t bytes = expected_.of(*name);
  const bool had_room = !outstanding_.full_for(bytes);
  const turn next = turn_for(bytes, had_room);
  if (next == turn::write_here || !served()) return std::nullopt;
  std::optional<claim> place = take_claim(*name, exclusive);
  if (!place || has_few_left(place->file.get())) {
    if (place) withdraw(*place, *name);
    return std::nullopt;
  }
  try {
    staged_file begun(*name, std::move(*place), next == turn::drop);
    --figures.wrote_itself.files;
    turns_.begun(begun, begin_ns, had_room);
    server_.how_far->begin(rank_);
    const std::uint64_t number = next_kept_++;
    if (server_.up->keep(number, begun, mark_ + "-kept-" + std::to_string(number))) begun.kept = number;
    return begun;
  } catch (const error&) {  // no descriptor is left
    withdraw(*place, *name);
    return std::nullopt;
  }
}

// Writing a file that was handed over for this place, perhaps under another name by now, replaces it.
void client::state::wait_until_replaced(const std::string& name) {
  struct stat found {};
  if (*busy() == 0 || stat(name.c_str(), &found) != 0) return;
  const file_identity which{found.st_dev, found.st_ino};
  (void)wait_for_others(&which);
  while (outstanding_.any_at(which) && take_answer(true)) continue;
}

bool client::state::may_grow(staged_file& open, std::size_t by) {
  const auto fits = [&] { return outstanding_.bytes() + growing_bytes_ + by <= outstanding_.share(); };
  take_answers();
  if (!fits() && growing_bytes_ + by <= outstanding_.share() && policy_ == when_full::wait)
    make_room(growing_bytes_ + by);
  if (!served() || !fits()) return false;
  growing_bytes_ += by;
  open.reserved += by;
  return true;
}

bool client::state::flush(staged_file& open) {
  take_answers();
  if (!served()) return false;
  open.flushed = open.flushed || (open.kept && server_.up->flushed(*open.kept));
  return open.flushed;
}

void client::state::keep_no_longer(staged_file& open) {
  if (open.kept) server_.up->release(*open.kept);
  open.kept.reset();
}

void client::state::give_to_program(staged_file& open) {
  const std::int64_t begin = now_ns();
  const std::size_t bytes = open.bytes();
  storage.pass(bytes);
  open.become_its_place();
  keep_no_longer(open);
  growing_bytes_ -= std::exchange(open.reserved, 0);
  expected_.learn(open.final_path(),
                  std::max(bytes, outstanding_.share() + 1));  // so that the next file of this name is not begun
  if (bytes > outstanding_.share() / 2) ++figures.too_large;
  figures.wrote_itself.add(bytes);
  figures.writing_ns += now_ns() - begin;
}

void client::state::drop(staged_file&& begun) {
  staged_file gone = std::move(begun);
  growing_bytes_ -= gone.reserved;
  keep_no_longer(gone);
  if (gone.place() != nullptr) withdraw(*gone.place(), gone.final_path());
  if (server_.how_far) server_.how_far->end(rank_);
}

// Takes no lock and allocates nothing, so that it needs only the server.
bool client::state::wait_for(std::uint32_t count) const noexcept {
  while (!is_written(count)) {
    const std::uint32_t seen = mine().ended;
    if (is_written(count)) break;
    if (!served_ || mine().returned != mine().taken_back || server_.up->is_gone()) return false;
    sleep_until_ended(mine(), seen);
  }
  return true;
}

void client::state::see_to_files() {
  take_answers();
  const std::uint32_t count = latest();
  while (!is_written(count) && !outstanding_.empty() && take_answer(true)) continue;
}

// Reports the end of a whole file that this process has written, for which the server has reported none.
void client::state::ended(const staged_file& file, bool failed) {
  if (file.in_form() == form::whole && server_.how_far) server_.how_far->end_whole(rank_, file.order, failed);
}

void client::state::make_room(std::size_t bytes) {
  if (served() && outstanding_.full_for(bytes)) server_.up->say(remark::waits, outstanding_.room_after(bytes, next_));
  while (outstanding_.full_for(bytes) && take_answer(true)) continue;
}

bool client::state::hand_over_as_it_is(staged_file&& finished) {
  const std::int64_t begin_ns = now_ns();
  take_answers();
  const std::size_t bytes = finished.bytes();
  const bool had_room = !outstanding_.full_for(bytes);
  const turn next = served() ? turn_for(bytes, had_room) : turn::write_here;
  if (next == turn::drop) return figures.dropped.add(bytes), false;
  if (next == turn::hand_over && served()) {
    turns_.begun(finished, begin_ns, had_room);
    return (void)hand_over(std::move(finished)), true;
  }
  wait_for(finished.final_path());
  const std::int64_t write_ns = now_ns();
  (void)write_here(finished, {finished.final_path(), false, mark_ + "-own-" + std::to_string(own_++)});
  turns_.wrote_itself(now_ns() - write_ns, bytes);
  return true;
}

std::uint32_t client::state::hand_over(staged_file&& finished) {
  const std::size_t bytes = finished.bytes();
  if (finished.dropped()) return figures.dropped.add(bytes), drop(std::move(finished)), 0;
  take_answers();
  expected_.learn(finished.final_path(), bytes);
  const std::uint64_t number = next_;  // a server expects consecutive numbers
  const int descriptor = finished.descriptor();
  const bool whole = finished.in_form() == form::whole;
  growing_bytes_ -= std::exchange(finished.reserved, 0);
  if (!served()) {
    (void)write_here(finished, where(next_++, finished));
    keep_no_longer(finished);
    if (whole && server_.how_far) server_.how_far->end(rank_);
    return 0;
  }
  figures.handed_over.add(bytes);
  if (whole) {
    mark_under_way(finished.place()->file.get());
    finished.order = server_.how_far->hand_over(rank_, finished.place()->which);
  }
  const auto place = outstanding_.add(number, std::move(finished), bytes);
  if (server_.up->hand_over(number, place->second, where(number, place->second).mark)) {
    ++next_;
    turns_.handed_over(descriptor, bytes);
  } else {
    handle({number, answer::outcome::not_taken, {}});
  }
  const std::uint32_t so_many = latest();
  take_answers();
  return whole ? so_many : 0;
}

void client::state::wrote_itself(std::int64_t nanoseconds, std::uint64_t bytes) {
  figures.writing_ns += nanoseconds;
  figures.wrote_itself.bytes += bytes;
  turns_.wrote_itself(nanoseconds, bytes);
}

bool client::state::written(const std::string& path, bool wait) {
  take_answers();
  if (outstanding_.empty()) return true;
  const auto place = final_path_of(path);
  if (!place) return true;
  if (wait) wait_for(*place);
  return !outstanding_.any_of(*place, 0, next_);
}

std::vector<std::string> client::state::failures() {
  take_answers();
  return std::exchange(failures_, {});
}

void client::state::wait_for(const std::string& final_path, std::uint64_t before) {
  if (!served() || !outstanding_.any_of(final_path, 0, before)) return;
  server_.up->say(remark::waits, std::min(before, next_));
  while (outstanding_.any_of(final_path, 0, before) && take_answer(true)) continue;
}

bool client::state::take_answer(bool wait) {
  if (!served()) return false;
  const received got = server_.up->receive(wait);
  if (const auto* const one = std::get_if<answer>(&got)) return handle(*one), true;
  if (std::holds_alternative<server_gone>(got)) recover();
  return false;
}

void client::state::take_answers() {
  while (take_answer(false)) continue;
}

void client::state::handle(const answer& got) {
  const auto found = outstanding_.find(got.number);
  if (found == outstanding_.end()) return;
  if (got.what == answer::outcome::failed) note_failure(got.why);
  if (got.what == answer::outcome::taken_back) figures.wrote_itself.add(found->second.bytes());
  if (got.what == answer::outcome::not_taken) {
    // After earlier files of the same name, unless a later one of that name replaces it anyway.
    const std::string& path = found->second.final_path();
    wait_for(path, got.number);
    if (!outstanding_.contains(got.number)) return;  // the server died in between: it is written
    const bool is_last = !outstanding_.any_of(path, got.number + 1, ~std::uint64_t{0});
    const bool well = !is_last || write_here(found->second, where(got.number, found->second));
    keep_no_longer(found->second);
    mine().taken_back = mine().returned.load();
    ended(found->second, !well);
  }
  outstanding_.remove(found);
}

// The server has died. Writes the files that it has not written, and those that it may have written without reporting
// it.
void client::state::recover() {
  served_ = false;
  std::fprintf(stderr, "lull stage: process %d has lost its server; from now on it writes its output itself\n", rank_);
  while (!outstanding_.empty()) {
    auto& [number, file] = *outstanding_.first();
    const destination place = where(number, file);
    remove_leftover(place);
    const bool well = write_here(file, place);
    keep_no_longer(file);
    if (file.place() != nullptr) lift_mark(file.place()->file.get());
    // The server may have ended it without reporting it.
    if (server_.how_far && !server_.how_far->has_ended(rank_, file.order)) ended(file, !well);
    outstanding_.remove(outstanding_.first());
  }
}

bool client::state::write_here(const staged_file& file, const destination& place) {
  const std::int64_t begin = now_ns();
  bool well = true;
  try {
    const handed_over what{file.descriptor(), place, file.place()};
    const bool as_it_is = file.in_form() == form::whole;  // otherwise the files have another size
    if (as_it_is) storage.pass(file.bytes());
    const amount written = write_together(file.in_form(), {&what, 1}, sync_);
    if (!as_it_is) storage.pass(written.bytes);
    figures.wrote_itself.add(file.bytes());
  } catch (const error& why) {
    note_failure(why.what());
    well = false;
  }
  figures.writing_ns += now_ns() - begin;
  return well;
}

void client::state::note_failure(std::string why) {
  ++failed_;
  if (first_failure_.empty()) first_failure_ = why;
  failures_.push_back(std::move(why));
}

void client::state::leave() {
  const std::int64_t begin = now_ns() - figures.writing_ns;
  if (served() && !outstanding_.empty()) server_.up->say(remark::ends, next_);
  while (!outstanding_.empty() && take_answer(true)) continue;
  shared.finish();
  figures.stalled_ns += now_ns() - figures.writing_ns - begin;
  shared.add_to(figures);
  for (std::string& line : shared.failures()) note_failure(std::move(line));
  figures.processes = 1;
  figures.wall_ns = now_ns() - begin_ns_;
  figures.cpu_ns = process_cpu_ns() - begin_cpu_ns_;
  if (policy_ == when_full::cheapest) figures.turns = turns_.taken();
  if (served()) server_.up->leave(figures);
  served_ = false;
  if (failed_ > 0)
    throw error("write all output",
                counted(failed_, "file") + " of process " + std::to_string(rank_) + " could not be written",
                "the first: " + first_failure_);
}

namespace {

// Counts the duration of a call as a stall, except the time in which it wrote.
class stall {
 public:
  stall(std::mutex& mutex, client_figures& figures)
      : lock_(mutex), figures_(figures), written_ns_(figures.writing_ns) {}
  ~stall() { figures_.stalled_ns += now_ns() - begin_ns_ - (figures_.writing_ns - written_ns_); }
  stall(const stall&) = delete;
  stall& operator=(const stall&) = delete;

 private:
  std::int64_t begin_ns_ = now_ns();
  std::scoped_lock<std::mutex> lock_;
  client_figures& figures_;
  std::int64_t written_ns_;
};

}  // namespace

std::unique_ptr<client> client::join(const plan& wanted, const roles& all, exchange& others) {
  const bool has_servers = name_of(wanted.how).has_servers;
  if (has_servers) joint_account::let_servers_meet(all, others);
  storage_limit storage(wanted.storage_bytes_per_s, wanted.storage_writers, others);
  const auto how_far = has_servers ? progress::of_node(others) : nullptr;
  std::shared_ptr<directory> files = share_output(wanted, all, others, storage).of;
  if (files && how_far) files->count_busy_in(&how_far->busy());
  joined server = row_of(wanted.how).join(wanted, all, others, how_far);
  std::size_t share = 0;
  if (server.up) share = wanted.buffer_bytes / all.clients_of(all.server_of(others.rank())).size();
  std::unique_ptr<client> made(new client(
      std::make_unique<state>(wanted, std::move(server), share, others.rank(), std::move(storage), std::move(files))));
  leave_descriptors_to_program();
  others.one_more();
  (void)others.all({});  // all have joined
  return made;
}

client::client(std::unique_ptr<state> own) : state_(std::move(own)) {}
client::~client() = default;

std::optional<staged_file> client::begin_file(const std::string& final_path, bool exclusive) {
  const stall here(state_->mutex, state_->figures);
  return state_->begin_file(final_path, exclusive);
}

std::uint32_t client::hand_over(staged_file&& finished) {
  const stall here(state_->mutex, state_->figures);
  return state_->hand_over(std::move(finished));
}

bool client::may_grow(staged_file& open, std::size_t by) {
  const stall here(state_->mutex, state_->figures);
  return state_->may_grow(open, by);
}

bool client::flush(staged_file& open) {
  const stall here(state_->mutex, state_->figures);
  return state_->flush(open);
}

void client::give_to_program(staged_file& open) {
  const stall here(state_->mutex, state_->figures);
  state_->give_to_program(open);
}

void client::drop(staged_file&& begun) {
  const stall here(state_->mutex, state_->figures);
  state_->drop(std::move(begun));
}

void client::see_to_files() {
  const stall here(state_->mutex, state_->figures);
  state_->see_to_files();
}

const std::atomic<std::uint32_t>* client::busy() const noexcept { return state_->busy(); }
std::uint32_t client::latest() const noexcept { return state_->latest(); }
std::uint32_t client::failed() const noexcept { return state_->failed(); }
bool client::takes_new_failure() noexcept { return state_->takes_new_failure(); }
bool client::has_failures() const noexcept { return state_->has_failures(); }
bool client::wait_for_others(const file_identity* place) const noexcept { return state_->wait_for_others(place); }
bool client::is_written(std::uint32_t count) const noexcept { return state_->is_written(count); }
bool client::wait_for(std::uint32_t count) const noexcept { return state_->wait_for(count); }

bool client::hand_over_as_it_is(staged_file&& finished) {
  const stall here(state_->mutex, state_->figures);
  return state_->hand_over_as_it_is(std::move(finished));
}

bool client::written(const std::string& final_path, bool wait) {
  const stall here(state_->mutex, state_->figures);
  return state_->written(final_path, wait);
}

std::vector<std::string> client::failures() {
  const std::scoped_lock lock(state_->mutex);
  return state_->failures();
}

std::int64_t client::wrote_itself(std::int64_t begin_ns, std::uint64_t bytes) {
  state_->storage.pass(bytes);
  const std::int64_t took = now_ns() - begin_ns;
  const std::scoped_lock lock(state_->mutex);
  state_->wrote_itself(took, bytes);
  return took;
}

node_files& client::shared() const noexcept { return state_->shared; }

void client::count(const other_files& others) {
  const std::scoped_lock lock(state_->mutex);
  state_->figures.others += others;
}

void client::leave() {
  const std::scoped_lock lock(state_->mutex);
  state_->leave();
}

}  // namespace lull::stage
