#include "stage/writer.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/event_fd.hpp"

namespace lull::stage {

writer::writer(bool sync, const storage_limit& storage) : sync_(sync), storage_(storage), event_(open_event_fd()) {
  if (!event_) throw error("start to write output", describe_errno(errno));
  thread_ = std::jthread([this](const std::stop_token& end) { work(end); });
}

writer::~writer() = default;

void writer::submit(write_order order) {
  ++outstanding_;
  const std::scoped_lock lock(mutex_);
  orders_.push_back(std::move(order));
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
    if (!wanted_.wait(lock, end, [this] { return !orders_.empty(); })) return;
    const write_order order = std::move(orders_.front());
    orders_.pop_front();
    lock.unlock();

    const idle_frequency::at_full here(core_);
    const std::int64_t begin = now_ns();
    struct stat content {};
    (void)fstat(order.content.get(), &content);
    storage_.pass(static_cast<std::uint64_t>(content.st_size));
    answer result = write(order);

    lock.lock();
    figures_.writing_ns += now_ns() - begin;
    if (result.what == answer::outcome::written)
      figures_.written.add(static_cast<std::uint64_t>(content.st_size));
    else
      ++figures_.failed;
    finished_.push_back({order.client, std::move(result)});
    signal_event_fd(event_.get());
  }
}

answer writer::write(const write_order& order) {
  try {
    umask(order.creation_mask);  // of the whole process: nobody else in it creates files
    write_whole_file(order.content.get(), order.where, sync_);
    return {order.number, answer::outcome::written, {}};
  } catch (const std::exception& why) {
    return {order.number, answer::outcome::failed, why.what()};
  }
}

}  // namespace lull::stage
