#include "transport/libfabric/endpoint.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "transport/libfabric/selection.hpp"

namespace lull::transport {
namespace {

constexpr std::int64_t shortest_nap_ns = 50'000, longest_nap_ns = 1'000'000;
constexpr std::size_t completions_at_once = 8, rounds_of_a_poll = 8;
constexpr std::size_t entries_of_queue = 4096;

}  // namespace

endpoint::endpoint(const options& wanted, bool exposes_memory, std::size_t head_bytes)
    : info_(nullptr), nap_ns_(shortest_nap_ns), queues_(static_cast<std::size_t>(wanted.processes) + 1) {
  auto [all, chosen] = select_provider(wanted, exposes_memory);
  all_ = std::move(all);
  info_ = chosen;
  facts_ = &providers[row_of_provider(provider())];
  open(wanted, head_bytes);
}

void endpoint::open(const options& wanted, std::size_t head_bytes) {
  const auto info = const_cast<fi_info*>(info_);  // libfabric's functions do not change it
  fid_fabric* fabric = nullptr;
  check_libfabric(libfabric.fi_fabric(info->fabric_attr, &fabric, nullptr), "open a fabric");
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  check_libfabric(fi_domain(fabric, info, &domain, nullptr), "open an adapter by libfabric");
  domain_.reset(domain);
  fi_av_attr of_addresses{};
  of_addresses.type = FI_AV_TABLE;
  of_addresses.count = static_cast<std::size_t>(wanted.processes);
  fid_av* addresses = nullptr;
  check_libfabric(fi_av_open(domain, &of_addresses, &addresses, nullptr), "open libfabric's table of addresses");
  addresses_.reset(addresses);
  open_completions();
  fid_ep* made = nullptr;
  check_libfabric(fi_endpoint(domain, info, &made, nullptr), "open an endpoint of libfabric");
  endpoint_.reset(made);
  check_libfabric(fi_ep_bind(made, &addresses->fid, 0), "bind libfabric's table of addresses");
  check_libfabric(fi_ep_bind(made, &completions_->fid, FI_TRANSMIT | FI_RECV), "bind libfabric's completions");

  const std::size_t largest = std::min(facts_->piece, info_->ep_attr->max_msg_size);
  piece_bytes_ = largest - head_bytes;
  inject_bytes_ = info_->tx_attr->inject_size;
  check_libfabric(fi_enable(made), "enable an endpoint of libfabric");
}

void endpoint::open_completions() {
  fi_cq_attr wanted{};
  wanted.size = entries_of_queue;
  wanted.format = FI_CQ_FORMAT_TAGGED;
  wanted.wait_obj = FI_WAIT_FD;
  fid_cq* made = nullptr;
  int fd = -1;
  has_descriptor_ = fi_cq_open(domain_.get(), &wanted, &made, nullptr) == 0;
  if (has_descriptor_ && fi_control(&made->fid, FI_GETWAIT, &fd) != 0) {  // ofi_rxd opens such a queue nevertheless
    fi_close(&made->fid);
    has_descriptor_ = false;
  }
  if (!has_descriptor_) {
    wanted.wait_obj = FI_WAIT_NONE;
    check_libfabric(fi_cq_open(domain_.get(), &wanted, &made, nullptr), "open libfabric's completions");
  }
  completions_.reset(made);
  epoll_ = descriptor(epoll_create1(EPOLL_CLOEXEC));
  timer_ = descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_ || !timer_) throw error("prepare to sleep on libfabric", describe_errno(errno));
  watch(timer_.get());
  if (has_descriptor_) watch(fd);
}

void endpoint::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw error("prepare to sleep on libfabric", describe_errno(errno));
}

std::vector<std::byte> endpoint::name() const {
  std::vector<std::byte> name(256);
  std::size_t bytes = name.size();
  int result = fi_getname(&endpoint_->fid, name.data(), &bytes);
  if (result == -FI_ETOOSMALL) {
    name.resize(bytes);
    result = fi_getname(&endpoint_->fid, name.data(), &bytes);
  }
  check_libfabric(result, "get this process's libfabric address");
  name.resize(bytes);
  return name;
}

fi_addr_t endpoint::insert(std::span<const std::byte> name, const std::string& action) {
  fi_addr_t made = FI_ADDR_NOTAVAIL;
  if (fi_av_insert(addresses_.get(), name.data(), 1, &made, 0, nullptr) != 1)
    throw error(action, "libfabric refuses its address");
  return made;
}

void endpoint::begin(std::size_t queue, operation& one) {
  auto& [before, listed] = queues_[queue];
  const ssize_t result = before.empty() ? one.post(one) : -FI_EAGAIN;
  if (result == -FI_EAGAIN) {
    if (!std::exchange(listed, true)) waiting_.push_back(queue);
    before.push(one);
  }
  if (result == -FI_EAGAIN || facts_->misses_wakeups) look_again_soon();
  if (result != under_way && result != -FI_EAGAIN)
    one.ended(one, {.failure = result == complete ? 0 : static_cast<int>(-result)});
}

bool endpoint::retry() {
  bool any = false;
  for (std::size_t i = 0; i < waiting_.size();) {
    auto& [queue, listed] = queues_[waiting_[i]];
    while (!queue.empty()) {
      operation& one = queue.front();
      const ssize_t result = one.post(one);
      if (result == -FI_EAGAIN) break;
      any = true;
      queue.pop();
      if (result != under_way) one.ended(one, {.failure = result == complete ? 0 : static_cast<int>(-result)});
    }
    if (queue.empty()) {
      listed = false;
      waiting_[i] = waiting_.back();
      waiting_.pop_back();
    } else {
      ++i;
    }
  }
  return any;
}

bool endpoint::poll() {
  bool any = false;
  std::array<fi_cq_tagged_entry, completions_at_once> entries;
  for (std::size_t round = 0; round < rounds_of_a_poll; ++round) {
    const ssize_t count = fi_cq_read(completions_.get(), entries.data(), entries.size());
    if (count == -FI_EAVAIL) {
      failed();
      any = true;
      continue;
    }
    if (count <= 0) break;
    any = true;
    for (const fi_cq_tagged_entry& one : std::span(entries).first(static_cast<std::size_t>(count))) {
      if (one.op_context == nullptr) continue;
      auto& ended = *static_cast<operation*>(one.op_context);
      ended.ended(ended, {.bytes = one.len});
    }
  }
  if (!waiting_.empty()) any = retry() || any;
  if (any) {
    nap_ns_ = shortest_nap_ns;
    if (facts_->misses_wakeups) look_again_soon();
  }
  return any;
}

void endpoint::failed() {
  struct {
    fi_cq_err_entry why{};
    std::array<std::byte, 64> of_later_versions{};
  } entry;
  if (fi_cq_readerr(completions_.get(), &entry.why, 0) <= 0 || entry.why.op_context == nullptr) return;
  auto& ended = *static_cast<operation*>(entry.why.op_context);
  ended.ended(ended, {.failure = entry.why.err == 0 ? FI_EOTHER : entry.why.err});
}

void endpoint::set_timer(std::int64_t at_ns) {
  if (at_ns == timer_at_ns_) return;
  itimerspec when{};
  when.it_value = timespec_of(at_ns);
  timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);  // also makes it unreadable
  timer_at_ns_ = at_ns;
}

void endpoint::start_nap() {
  set_timer(now_ns() + nap_ns_);
  nap_ns_ = std::min(2 * nap_ns_, longest_nap_ns);
}

void endpoint::look_again_soon() {
  if (timer_at_ns_ == 0) start_nap();
}

bool endpoint::arm() {
  if (has_descriptor_ && waiting_.empty())
    set_timer(0);
  else
    start_nap();
  if (!has_descriptor_) return true;
  std::array<fid*, 1> all{&completions_->fid};
  return fi_trywait(fabric_.get(), all.data(), static_cast<int>(all.size())) == FI_SUCCESS;
}

}  // namespace lull::transport
