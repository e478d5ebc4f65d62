#include "mpi/recorded.hpp"

#include <algorithm>

namespace lull::mpi {

void call_record::put_longer(trace::thread_log& log, std::uint64_t took) noexcept {
  log.put(made(0, 0, 0, 0, -1, -1, took >> 32, trace::kind::longer));
}

void call_record::in_vain(std::uintptr_t request) {
  vain_calls& last = thread_.asked_in_vain;
  trace::thread_log& log = *thread_.log;
  const std::uint64_t now = begin_ + took_;
  if (last.count > 0 && log.next() == last.behind) {
    trace::record& end = *last.records[last.count - 1];
    const std::uint64_t ended = end.begin + end.duration;
    if (begin_ - ended <= std::max(took_, most_between_vain_calls) && now - end.begin <= UINT32_MAX) {
      for (std::size_t i = 0; i < last.count; ++i) {
        if (last.records[i]->region != region_) continue;
        // The last record gets the time, whichever function it belongs to: records do not overlap.
        end.duration = static_cast<std::uint32_t>(now - end.begin);
        last.records[i]->bytes = (last.records[i]->bytes + 1) & low_56_bits;
        return;
      }
    } else {
      last.count = 0;
    }
  } else {
    last.count = 0;
  }
  plain();
  trace::record* const made = log.next() != nullptr ? log.next() - 1 : nullptr;
  about_request(trace::kind::tested, request);
  if (last.count == vain_calls::most) last.count = 0;
  if (made == nullptr || made->begin != begin_ || made->what != trace::kind::call) return;  // the record was not kept
  last.records[last.count++] = made;
  last.behind = log.next();
}

void call_record::also_received(MPI_Comm comm, const MPI_Status& status) {
  const communicator& in = communicator_of(thread_, comm);
  if (status.MPI_SOURCE < 0 || in.number == communicator::unknown) return;
  more(trace::kind::also_received, 0, in.number, status.MPI_SOURCE, status.MPI_TAG, bytes_of(status));
}

void call_record::posted(trace::kind what, MPI_Comm comm, int peer, int tag, std::uint64_t size, MPI_Request request) {
  const communicator& in = communicator_of(thread_, comm);
  const bool any = peer == MPI_ANY_SOURCE;
  if ((peer < 0 && !any) || in.number == communicator::unknown) return;  // the peer is MPI_PROC_NULL
  more(what, bits_of(request), in.number, any ? -1 : peer, tag == MPI_ANY_TAG ? -1 : tag, size);
}

void call_record::about_request(trace::kind what, std::uintptr_t request) {
  if (request == bits_of(predefined.request_null)) return;
  more(what, request, 0, -1, -1, 0);
}

void call_record::completed(MPI_Request request, const MPI_Status& status) {
  if (request == predefined.request_null || request == shared_request) return;
  if (cancelling.load(std::memory_order_relaxed)) [[unlikely]] {
    int cancelled = 0;
    LULL_REAL(MPI_Test_cancelled)(&status, &cancelled);
    if (cancelled != 0) return about_request(trace::kind::cancelled, bits_of(request));
  }
  const int source = status.MPI_SOURCE;
  more(trace::kind::completed, bits_of(request), 0, source < 0 ? -1 : source, status.MPI_TAG, bytes_of(status));
}

void call_record::collective(const members_of& members, int root, std::uint64_t given, std::uint64_t got) {
  if (members.comm().number == communicator::unknown) return plain();
  put(trace::kind::collective, members.comm().number, members_of::in_trace(root), -1, given);
  if (got != given) more(trace::kind::more_received, 0, members.comm().number, -1, -1, got);
}

void call_record::posted_collective(const members_of& members, int root, std::uint64_t given, std::uint64_t got,
                                    MPI_Request request) {
  if (request == shared_request) return collective(members, root, given, got);
  plain();
  if (members.comm().number == communicator::unknown) return;
  more(trace::kind::posted_collective, bits_of(request), members.comm().number, members_of::in_trace(root), -1, given);
  if (got != given) more(trace::kind::more_received, 0, members.comm().number, -1, -1, got);
}

void call_record::prepared_collective(const members_of& members, int root, std::uint64_t given, std::uint64_t got,
                                      MPI_Request request) {
  plain();
  if (members.comm().number == communicator::unknown) return;
  more(trace::kind::prepared_collective, bits_of(request), members.comm().number, members_of::in_trace(root), -1,
       given);
  if (got != given) more(trace::kind::more_received, 0, members.comm().number, -1, -1, got);
}

void call_record::posted_duplicate(MPI_Comm original, MPI_Comm made, MPI_Request request) {
  posted_collective(members_of(thread_, original), no_root, 0, 0, request);
  duplicates_communicator(made, original);
}

void call_record::one_sided(trace::kind what, MPI_Win win, int target, std::uint64_t size) {
  const window& in = window_of(thread_, win);
  if (target < 0 || in.number == communicator::unknown) return plain();
  put(what, in.number, target, -1, size);
}

void call_record::about_window(trace::kind what, MPI_Win win, int target, int tag) {
  const window& in = window_of(thread_, win);
  if (in.number != communicator::unknown) more(what, 0, in.number, target, tag, 0);
}

}  // namespace lull::mpi
