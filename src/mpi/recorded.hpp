// One call of the program, from its begin to the records that describe it (trace/raw.hpp). A wrapper creates
// one, and calls returned() and then the functions for the kind of call; without recording none of this is compiled.
//
//   recorded<tools> call(outermost, function::MPI_Send);
//   result = real(...);
//   call.returned(result);                       reads the clock
//   call.sent(comm, dest, tag, bytes(count, datatype));
//
// It costs some two nanoseconds in addition to the two clock readings. In records, a rank or tag of -1 is any; a rank
// in an intercommunicator is one of the other group. A message to or from MPI_PROC_NULL is not recorded. Of a failed
// call only the call is recorded.
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/ticks.hpp"
#include "mpi/handles.hpp"
#include "mpi/thread.hpp"

namespace lull::mpi {

// A request has been cancelled: from now on, statuses are tested for it.
inline constinit std::atomic<bool> cancelling{false};

inline constexpr int no_root = -1;

template <class Count>
[[nodiscard]] std::uint64_t counted(Count count) noexcept {
  if constexpr (std::is_pointer_v<Count>)
    return 0;  // for MPI_Buffer_detach, whose size is an output
  else
    return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}
template <class Count>
[[nodiscard]] std::uint64_t bytes(Count count, MPI_Datatype type) noexcept {
  return counted(count) * size_of(type);
}
template <class Count>
[[nodiscard]] std::uint64_t at(const Count* counts, int rank) noexcept {
  return counted(counts[rank]);
}
template <class Count>
[[nodiscard]] std::uint64_t total(const Count* counts, int number) noexcept {
  std::uint64_t sum = 0;
  for (int i = 0; i < number; ++i) sum += counted(counts[i]);
  return sum;
}
template <class Count>
[[nodiscard]] std::uint64_t total(const Count* counts, const MPI_Datatype* types, int number) noexcept {
  std::uint64_t sum = 0;
  for (int i = 0; i < number; ++i)
    if (counts[i] > 0) sum += bytes(counts[i], types[i]);
  return sum;
}

// The participants of a collective, as its root and the others see it.
class members_of {
 public:
  members_of(thread_state& thread, MPI_Comm comm)
      : comm_(communicator_of(thread, comm)), rank(comm_.rank), size(comm_.size) {}

  // In an intercommunicator the root passes MPI_ROOT, and the others of its group pass MPI_PROC_NULL.
  [[nodiscard]] bool is_root(int root) const noexcept { return root == (comm_.inter ? MPI_ROOT : rank); }
  [[nodiscard]] bool is_other(int root) const noexcept {
    return !is_root(root) && !(comm_.inter && root == MPI_PROC_NULL);
  }
  [[nodiscard]] static int in_trace(int root) noexcept { return root < 0 ? -1 : root; }
  [[nodiscard]] const communicator& comm() const noexcept { return comm_; }

 private:
  communicator comm_;

 public:
  const int rank;
  const int size;
};

template <unsigned tools>
class requests;
template <unsigned tools>
class statuses;

class call_record {
 public:
  call_record(thread_state& thread, function which) noexcept
      : thread_(thread), region_(static_cast<std::uint16_t>(which)), begin_(ticks()) {}

  void returned(int result) noexcept {
    took_ = ticks_since(begin_);
    result_ = result;
  }
  [[nodiscard]] thread_state& thread() const noexcept { return thread_; }
  [[nodiscard]] int result() const noexcept { return result_; }

  [[gnu::always_inline]] void plain() { put(trace::kind::call, 0, -1, -1, 0); }
  // An unsuccessful test or probe. A program may make millions of them per second, so consecutive ones share one record
  // for each function.
  void in_vain(std::uintptr_t request = bits_of(predefined.request_null));
  [[nodiscard]] int failed() {
    plain();
    return result_;
  }

  // Messages
  [[gnu::always_inline]] void sent(MPI_Comm comm, int dest, int tag, std::uint64_t size) {
    message(trace::kind::send, comm, dest, tag, size);
  }
  [[gnu::always_inline]] void received(MPI_Comm comm, const MPI_Status& status) {
    message(trace::kind::receive, comm, status.MPI_SOURCE, status.MPI_TAG, bytes_of(status));
  }
  void also_received(MPI_Comm comm, const MPI_Status& status);
  void posted_send(MPI_Comm comm, int dest, int tag, std::uint64_t size, MPI_Request request) {
    if (request == shared_request) return sent(comm, dest, tag, size);
    plain();
    posted(trace::kind::posted_send, comm, dest, tag, size, request);
  }
  void posted_receive(MPI_Comm comm, int source, int tag, std::uint64_t size, MPI_Request request) {
    plain();
    posted(trace::kind::posted_receive, comm, source, tag, size, request);
  }
  void also_posted_receive(MPI_Comm comm, int source, int tag, std::uint64_t size, MPI_Request request) {
    posted(trace::kind::posted_receive, comm, source, tag, size, request);
  }
  void prepared_send(MPI_Comm comm, int dest, int tag, std::uint64_t size, MPI_Request request) {
    plain();
    posted(trace::kind::prepared_send, comm, dest, tag, size, request);
  }
  void prepared_receive(MPI_Comm comm, int source, int tag, std::uint64_t size, MPI_Request request) {
    plain();
    posted(trace::kind::prepared_receive, comm, source, tag, size, request);
  }

  // Requests
  void about_request(trace::kind what, std::uintptr_t request);
  template <unsigned tools>
  void all_completed(int result, const requests<tools>& asked, const statuses<tools>& seen, const int* flag = nullptr);
  template <unsigned tools>
  void one_completed(int result, const requests<tools>& asked, const statuses<tools>& seen, const int* index,
                     const int* flag = nullptr);
  template <unsigned tools>
  void some_completed(int result, const requests<tools>& asked, const statuses<tools>& seen, const int* number,
                      const int* indices);

  // Collectives
  void collective(const members_of& members, int root, std::uint64_t given, std::uint64_t got);
  void posted_collective(const members_of& members, int root, std::uint64_t given, std::uint64_t got,
                         MPI_Request request);
  void prepared_collective(const members_of& members, int root, std::uint64_t given, std::uint64_t got,
                           MPI_Request request);
  void posted_duplicate(MPI_Comm original, MPI_Comm made, MPI_Request request);
  void made_communicator(MPI_Comm comm) { mpi::made_communicator(comm); }
  void made_window(MPI_Win win, MPI_Comm comm) { mpi::made_window(win, comm); }

  // Windows
  void one_sided(trace::kind what, MPI_Win win, int target, std::uint64_t size);
  void about_window(trace::kind what, MPI_Win win, int target, int tag = 0);

  // Records a call of any kind, and additions to it.
  [[gnu::always_inline]] void put(trace::kind what, std::uint16_t comm, int peer, int tag, std::uint64_t size) {
    thread_.log->put(made(begin_, static_cast<std::uint32_t>(took_), region_, comm, peer, tag, size, what));
    if (took_ >> 32 != 0) [[unlikely]]
      put_longer(*thread_.log, took_);
  }
  [[gnu::always_inline]] void more(trace::kind what, std::uint64_t handle, std::uint16_t comm, int peer, int tag,
                                   std::uint64_t size) {
    thread_.log->put(made(handle, 0, 0, comm, peer, tag, size, what));
  }

 private:
  static constexpr std::uint64_t low_56_bits = (std::uint64_t{1} << 56) - 1;
  static trace::record made(std::uint64_t begin, std::uint32_t duration, std::uint16_t region, std::uint16_t comm,
                            int peer, int tag, std::uint64_t size, trace::kind what) noexcept {
    return {.begin = begin,
            .duration = duration,
            .region = region,
            .comm = comm,
            .peer = peer,
            .tag = tag,
            .bytes = size & low_56_bits,
            .what = what};
  }
  [[gnu::cold]] static void put_longer(trace::thread_log& log, std::uint64_t took) noexcept;

  [[gnu::always_inline]] void message(trace::kind what, MPI_Comm comm, int peer, int tag, std::uint64_t size) {
    const communicator& in = communicator_of(thread_, comm);
    if (peer < 0 || in.number == communicator::unknown) [[unlikely]]
      return plain();
    put(what, in.number, peer, tag, size);
  }
  void posted(trace::kind what, MPI_Comm comm, int peer, int tag, std::uint64_t size, MPI_Request request);
  void completed(MPI_Request request, const MPI_Status& status);

  thread_state& thread_;
  const std::uint16_t region_;
  const std::uint64_t begin_;
  std::uint64_t took_ = 0;
  int result_ = MPI_SUCCESS;
};

// A wrapper's record, or nothing.
template <unsigned tools, bool = recording<tools>>
class recorded : public call_record {
 public:
  static constexpr unsigned tools_in_use = tools;
  recorded(const outermost_call<tools>& outermost, function which) noexcept
      : call_record(up_to_date(outermost.thread()), which) {}

 private:
  static thread_state& up_to_date(thread_state& thread) noexcept {
    thread.keep_up();
    return thread;
  }
};
template <unsigned tools>
class recorded<tools, false> {
 public:
  static constexpr unsigned tools_in_use = tools;
  recorded(const outermost_call<tools>&, function) noexcept {}
  void returned(int) noexcept {}
};

// The requests passed to a call, as they are before it.
template <unsigned tools>
class requests {
 public:
  requests(const outermost_call<tools>& outermost, int count, const MPI_Request* array) {
    if constexpr (recording<tools>) {
      if (count <= 0 || array == nullptr) return;
      if (count == 1) [[likely]] {
        one_ = *array;
        all_ = {&one_, 1};
      } else {
        auto& room = outermost.thread().requests;
        room.assign(array, array + count);
        all_ = room;
      }
    }
  }
  requests(const requests&) = delete;
  requests& operator=(const requests&) = delete;

  [[nodiscard]] std::span<const MPI_Request> all() const noexcept { return all_; }

 private:
  MPI_Request one_ = predefined.request_null;
  std::span<const MPI_Request> all_;
};

// The statuses that the library fills in: the program's, or local ones if it wants none and a record needs them.
template <unsigned tools>
class statuses {
 public:
  statuses(const outermost_call<tools>& outermost, int count, MPI_Status* wanted) : array_(wanted) {
    if constexpr (recording<tools>) {
      if (wanted != MPI_STATUSES_IGNORE) [[likely]]  // in both libraries equal to MPI_STATUS_IGNORE
        return;
      if (count <= 1) {
        array_ = &one_;
      } else {
        auto& room = outermost.thread().statuses;
        if (room.size() < static_cast<std::size_t>(count)) room.resize(static_cast<std::size_t>(count));
        array_ = room.data();
      }
    }
  }
  statuses(const statuses&) = delete;
  statuses& operator=(const statuses&) = delete;

  [[nodiscard]] MPI_Status* get() const noexcept { return array_; }
  const MPI_Status& operator*() const noexcept { return *array_; }
  const MPI_Status* operator->() const noexcept { return array_; }
  const MPI_Status& operator[](std::size_t i) const noexcept { return array_[i]; }

 private:
  MPI_Status* array_;
  MPI_Status one_;
};

template <unsigned tools>
void call_record::all_completed(int result, const requests<tools>& asked, const statuses<tools>& seen,
                                const int* flag) {
  const auto all = asked.all();
  if (result == MPI_SUCCESS && flag != nullptr && *flag == 0)
    return in_vain(bits_of(all.size() == 1 ? all[0] : predefined.request_null));
  plain();
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) return;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (result == MPI_SUCCESS || seen[i].MPI_ERROR != MPI_ERR_PENDING) completed(all[i], seen[i]);
}

template <unsigned tools>
void call_record::one_completed(int result, const requests<tools>& asked, const statuses<tools>& seen, const int* index,
                                const int* flag) {
  if (result == MPI_SUCCESS && flag != nullptr && *flag == 0) return in_vain();
  plain();
  if (result != MPI_SUCCESS || *index == MPI_UNDEFINED) return;
  completed(asked.all()[static_cast<std::size_t>(*index)], *seen);
}

template <unsigned tools>
void call_record::some_completed(int result, const requests<tools>& asked, const statuses<tools>& seen,
                                 const int* number, const int* indices) {
  if (result == MPI_SUCCESS && *number == 0) return in_vain();
  plain();
  if ((result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) || *number == MPI_UNDEFINED) return;
  for (int i = 0; i < *number; ++i)
    completed(asked.all()[static_cast<std::size_t>(indices[i])], seen[static_cast<std::size_t>(i)]);
}

}  // namespace lull::mpi
