// Operations on PEs of other nodes that the network carries out by itself, on the target's memory and without its
// process: which ones, how they are ordered with messages, and which PE is woken.
//
// The first operations on a PE are messages; they connect it. Afterwards:
//
//   put      by RDMA from a size on that is set, or that follows from the costs of network operations and messages: the
//            machine's constants, corrected by measurements (model/costs/rdma.hpp). A signal follows by message, after
//            its data
//   get      the same
//   fetch    an atomic operation that returns the old value, if this processor itself carries it out at the target;
//            elsewhere it would not be atomic with the operations of the target's processors
//
// Order: an operation by RDMA never overtakes a message that must precede it. A put behind a fence is a message until
// the target has acknowledged all messages before the fence; a get or an atomic, until it has acknowledged all. A
// message may overtake an operation by RDMA: until that is complete, fence must complete its context (completion.hpp).
//
// Waking: after a put or an atomic comes a flush, and then a read of the word in which the target publishes what it
// waits for (wait/public_waits.hpp). If it waits for what was written, a message rings it; otherwise no PE there is
// disturbed. Then the operation is complete. All operations on one PE that begin during one such read share the next.
//
// Call with the lock of the protocol held, except where a comment says otherwise. No function here sends; messages that
// are needed are kept for take_due().
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "fabric/operations/amo.hpp"
#include "fabric/operations/completion.hpp"
#include "model/choices/account.hpp"
#include "model/costs/rdma.hpp"
#include "model/machine/correction.hpp"
#include "transport/pool.hpp"
#include "transport/remote_memory.hpp"
#include "wait/public_waits.hpp"

namespace lull::fabric {

struct reply;

// Counts of operations by RDMA. Counts of several PEs add up to those of the job.
struct rdma_counts {
  std::uint64_t puts = 0, put_bytes = 0, gets = 0, got_bytes = 0, atomics = 0;
  std::uint64_t rings = 0;  // of the puts and atomics, those that woke their target by a message
  rdma_counts& operator+=(const rdma_counts& other);
};

struct rdma_hooks {
  std::function<void()> changed;              // this PE's memory, or what it waits for
  std::function<void(reply&)> answered;       // all of it has arrived
  std::function<void(const char* why)> lost;  // does not return
};

struct rdma_settings {
  std::size_t waits_at = 0;     // the offset of the word in which each PE publishes its waits
  std::size_t least_bytes = 0;  // size from which puts and gets use RDMA; 0: where it costs less
  model::machine on{};
};

class rdma {
 public:
  rdma(transport::remote_memory& memory, int pes, completion& completing, rdma_hooks hooks,
       const rdma_settings& settings);
  ~rdma();
  rdma(const rdma&) = delete;
  rdma& operator=(const rdma&) = delete;

  void answered_by(pe_id pe) { of(pe).connected = true; }  // it has answered a message
  // For a context's fence: later puts must not overtake the messages sent so far.
  void fenced(const outstanding& of);

  [[nodiscard]] bool takes_put(pe_id pe, std::size_t offset, std::size_t bytes, const model::put_costs& known);
  [[nodiscard]] bool takes_get(pe_id pe, std::size_t offset, std::size_t bytes, const model::put_costs& known);
  [[nodiscard]] bool takes_fetch(pe_id pe, const amo& u, const model::put_costs& known);

  // `sent` as in protocol::put. Rings no PE if a signal follows. An operation that is complete on return is not
  // outstanding.
  void put(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
           const signal_amo* signal, std::atomic<bool>* sent);
  // Completes with `answer` or, without one, with the context's operations; with neither, completion is not reported.
  void get(outstanding* of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes, reply* answer);
  void fetch(outstanding* of, pe_id pe, const amo& u, void* old_value, reply* answer);

  // Whether this processor carries out operations on that PE, inside the call.
  [[nodiscard]] bool by_processor(pe_id pe) { return memory_.by_processor(pe.index()); }

  // Messages that are due now.
  struct message_due {
    pe_id to;
    std::optional<signal_amo> signal;  // none: it rings
    outstanding* of;                   // of a signal
    bool counted;                      // the put counts in `of` as a reply due, until the signal does
  };
  [[nodiscard]] bool any_due() const { return !due_.empty(); }
  [[nodiscard]] std::vector<message_due> take_due() { return std::exchange(due_, {}); }

  [[nodiscard]] const rdma_counts& counts() const { return counts_; }
  // The choices `rdma-put` and `rdma-get` and how they turned out, by size; empty if the size is set. The costs of
  // messages are given as predicted and as known.
  [[nodiscard]] std::vector<model::choice_account> accounts(const model::put_costs& predicted,
                                                            const model::put_costs& known) const;

 private:
  enum class step : std::uint8_t { idle, flushing, looking };
  // One operation in flight.
  struct access final : transport::accessing {
    rdma* owner = nullptr;
    pe_id pe{0};
    outstanding* of = nullptr;
    bool counted = false;      // the call that began it has returned, and it is outstanding
    bool* finished = nullptr;  // set if it finishes before that
    bool changes = false;      // it changes the target's memory
    bool is_copied = false;    // its source was read before the call that began it returned
    wait::awaited_range range;
    std::atomic<bool>* sent = nullptr;
    reply* answer = nullptr;
    std::optional<signal_amo> signal;
    std::uint64_t operand = 0;
    void done() override { owner->moved(*this); }
    void lost(const char* why) override { owner->hooks_.lost(why); }
  };
  // What follows the operations that change the memory of one PE: a flush, then the read.
  struct flushing_peer final : transport::accessing {
    rdma* owner = nullptr;
    pe_id pe{0};
    bool connected = false;
    step at = step::idle;
    std::int64_t posting_ns = 0;  // time of the calls that began this, if it is timed and completes after the first
    std::uint64_t awaited = 0;
    std::uint64_t behind = 0;  // number of the last message that no put may overtake
    std::vector<access*> next, now;
    void done() override { owner->completed(*this); }
    void lost(const char* why) override { owner->hooks_.lost(why); }
  };

  // Puts, or gets, of similar size.
  struct transfers_of_size {
    explicit transfers_of_size(const model::correction_rules& how) : call_ns(0, how) {}
    std::uint64_t by_message = 0, by_rdma = 0, bytes = 0;
    model::corrected_term call_ns;  // of those by RDMA that end inside the call
  };
  using transfers_by_size = std::vector<transfers_of_size>;  // by std::bit_width of the size

  [[nodiscard]] bool decides() const { return settings_.least_bytes == 0; }
  [[nodiscard]] bool measures() const { return !settings_.on.correction.off && decides(); }
  [[nodiscard]] std::int64_t begin_ns(std::uint64_t operations) const;  // 0: this one is not timed
  // Like began(); also samples the call if it was timed and the put is not finished.
  void began_put(access& one, const bool& finished, std::size_t bytes, std::int64_t begin_ns);
  // Counts the decision and returns it.
  static bool counted(transfers_by_size& of, std::size_t bytes, bool by_rdma);
  access& begin(outstanding* of, pe_id pe, bool& finished);
  void began(access& one, const bool& finished);
  // The same; also samples the duration of the call if it was timed.
  void began(access& one, const bool& finished, transfers_by_size& of, std::size_t bytes, std::int64_t begin_ns);
  void moved(access& one);
  void complete(flushing_peer& peer);
  void completed(flushing_peer& peer);
  void finish(access& one);
  [[nodiscard]] bool reaches(pe_id pe, std::size_t offset, std::size_t bytes);
  flushing_peer& of(pe_id pe) { return peers_[static_cast<std::size_t>(pe.index())]; }

  transport::remote_memory& memory_;
  completion& completion_;
  rdma_hooks hooks_;
  rdma_settings settings_;
  // What an operation costs this process, apart from its bytes: the time inside the calls. An operation that completes
  // inside its call is a flush and a look. One that completes later costs the calls that begin it, the put included; the
  // network works while the process does something else.
  model::corrected_term ns_per_operation_, ns_per_late_put_;
  double ns_per_copied_byte_ = 0;  // as known at the last decision
  std::int64_t flushed_ns_ = 0;    // inside a put that is timed
  bool in_timed_put_ = false;
  unsigned flushes_ = 1, too_small_ = 0;
  transfers_by_size puts_, gets_;
  std::vector<flushing_peer> peers_;
  pool<access> accesses_;
  std::vector<message_due> due_;
  rdma_counts counts_;
};

}  // namespace lull::fabric
