#include "stage/writing/writer.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <exception>
#include <utility>

#include "base/await.hpp"
#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace lull::stage {
namespace {

std::uint64_t bytes_of(const gathering::batch& together) {
  std::uint64_t bytes = 0;
  for (const write_order& order : together) {
    struct stat content {};
    if (fstat(order.content.get(), &content) == 0) bytes += static_cast<std::uint64_t>(content.st_size);
  }
  return bytes;
}

}  // namespace

writer::writer(bool sync, const std::vector<int>& clients, const storage_limit& storage)
    : sync_(sync), storage_(storage), event_(open_event_fd()), gathering_(clients) {
  if (!event_) throw error("start to write output", describe_errno(errno));
  thread_ = std::jthread([this](const std::stop_token& end) { work(end); });
}

writer::~writer() = default;

void writer::submit(write_order order) {
  ++outstanding_;
  std::vector<gathering::batch> now;
  if (!order.together.empty())
    now = gathering_.add(std::move(order));
  else
    now.emplace_back().push_back(std::move(order));
  enqueue(std::move(now));
}

void writer::heard(int client, remark what, std::uint64_t after) {
  enqueue(what == remark::waits ? gathering_.release_for(client, after) : gathering_.end_of(client));
}

void writer::all_have_ended() { enqueue(gathering_.end_of_all()); }

void writer::enqueue(std::vector<gathering::batch> batches) {
  if (batches.empty()) return;
  const std::scoped_lock lock(mutex_);
  for (gathering::batch& one : batches) batches_.push_back(std::move(one));
  wanted_.notify_one();
}

std::vector<written_order> writer::finished() {
  clear_event_fd(event_.get());
  const std::scoped_lock lock(mutex_);
  outstanding_ -= finished_.size();
  return std::exchange(finished_, {});
}

server_figures writer::figures() const {
  const std::scoped_lock lock(mutex_);
  return figures_;
}

void writer::work(const std::stop_token& end) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!await(wanted_, lock, end, [this] { return !batches_.empty(); })) return;
    gathering::batch together = std::move(batches_.front());
    batches_.pop_front();
    lock.unlock();

    const idle_frequency::at_full here(core_);
    const std::int64_t begin = now_ns();
    amount written;
    std::string failure;
    try {
      const bool as_it_is = together.front().what == form::whole;  // otherwise the files have another size
      if (as_it_is) storage_.pass(bytes_of(together));
      written = write(together);
      if (!as_it_is) storage_.pass(written.bytes);
    } catch (const std::exception& why) {
      failure = why.what();
    }

    for (write_order& order : together)
      if (order.place.file) lift_mark(order.place.file.get());

    lock.lock();
    figures_.writing_ns += now_ns() - begin;
    figures_.written += written;
    if (!failure.empty()) figures_.failed += together.size();
    const auto outcome = failure.empty() ? answer::outcome::written : answer::outcome::failed;
    for (const write_order& order : together)
      finished_.push_back({order.client, order.what, order.order, {order.number, outcome, failure}});
    signal_event_fd(event_.get());
  }
}

amount writer::write(const gathering::batch& together) {
  umask(together.front().creation_mask);  // of the whole process: no other thread creates files
  std::vector<handed_over> all;
  all.reserve(together.size());
  for (const write_order& order : together)
    all.push_back({order.content.get(), order.where, order.place.file ? &order.place : nullptr});
  return write_together(together.front().what, all, sync_);
}

}  // namespace lull::stage
