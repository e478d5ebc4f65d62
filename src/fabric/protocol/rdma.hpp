// Operations on PEs of other nodes that the network carries out by itself, at the target's memory and without its
// process: which ones, in what order with messages, and who is woken.
//
// The first operations on a PE are messages; they connect it. Afterwards:
//
//   put      by RDMA from a size on that is set, or follows from what operations of the network and messages cost: as the
//            machine's constants have it, corrected by what is measured (model/costs/rdma.hpp). A signal follows by message,
//            after its data
//   get      the same
//   fetch    an atomic operation whose old value is wanted, where this processor itself carries it out at the target;
//            elsewhere it would not be atomic with those that the target's processors make
//
// Order: an operation that goes by RDMA never overtakes a message that it must not. A put behind a fence is a message as
// long as the target has not acknowledged all before the fence; a get or an atomic, as long as it has not acknowledged
// all. A message may overtake what goes by RDMA: until that is complete, its context is one that fence must complete
// (completion.hpp).
//
// Waking: after a put or an atomic, flush, then a look at the word in which the target publishes what it waits for
// (wait/public_waits.hpp). If it waits for what was written, a message rings; else nobody there is disturbed. Then the
// operation is complete. Of the operations on one PE that were begun during one such look, the next one is for all.
//
// With the lock of the protocol held, but what is marked. Nothing here sends: what needs a message is kept in due().
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
#include "fabric/protocol/pool.hpp"
#include "model/choices/account.hpp"
#include "model/costs/rdma.hpp"
#include "model/machine/correction.hpp"
#include "transport/remote_memory.hpp"
#include "wait/public_waits.hpp"

namespace lull::fabric {

struct reply;

// What went that way. The sums of several PEs are those of a job.
struct rdma_counts {
  std::uint64_t puts = 0, put_bytes = 0, gets = 0, got_bytes = 0, atomics = 0;
  std::uint64_t rings = 0;  // of these, such that woke their target by a message
  rdma_counts& operator+=(const rdma_counts& other);
};

struct rdma_hooks {
  std::function<void()> changed;              // this PE's memory, or what it waits for
  std::function<void(reply&)> answered;       // all of it is there
  std::function<void(const char* why)> lost;  // does not return
};

struct rdma_settings {
  std::size_t waits_at = 0;     // the offset of the word in which each PE publishes its waits
  std::size_t least_bytes = 0;  // of puts and gets; 0: where they cost less that way
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
  // Of a context's fence: what was sent before must not be overtaken.
  void fenced(const outstanding& of);

  [[nodiscard]] bool takes_put(pe_id pe, std::size_t offset, std::size_t bytes, const model::put_costs& known);
  [[nodiscard]] bool takes_get(pe_id pe, std::size_t offset, std::size_t bytes, const model::put_costs& known);
  [[nodiscard]] bool takes_fetch(pe_id pe, const amo& u, const model::put_costs& known);

  // `sent` as of protocol::put; nobody is rung where a signal follows. What is complete on return is not outstanding.
  void put(outstanding& of, pe_id pe, std::size_t offset, const void* source, std::size_t bytes,
           const signal_amo* signal, std::atomic<bool>* sent);
  // Complete when `answer` is, or, with none, when the context's operations are; with neither, unknown to anybody.
  void get(outstanding* of, pe_id pe, std::size_t offset, void* destination, std::size_t bytes, reply* answer);
  void fetch(outstanding* of, pe_id pe, const amo& u, void* old_value, reply* answer);

  // Whether puts to it are carried out by this processor, inside the call.
  [[nodiscard]] bool by_processor(pe_id pe) { return memory_.by_processor(pe.index()); }

  // Messages that are due now.
  struct message_due {
    pe_id to;
    std::optional<signal_amo> signal;  // none: it rings
    outstanding* of;                   // of a signal
    bool counted;                      // there, as a reply that is due, until the signal's own is
  };
  [[nodiscard]] bool any_due() const { return !due_.empty(); }
  [[nodiscard]] std::vector<message_due> take_due() { return std::exchange(due_, {}); }

  [[nodiscard]] const rdma_counts& counts() const { return counts_; }
  // `rdma-put` and `rdma-get`: what these choices have come to, by size; none where the size is set. What messages cost is as
  // predicted, and as known.
  [[nodiscard]] std::vector<model::choice_account> accounts(const model::put_costs& predicted,
                                                            const model::put_costs& known) const;

 private:
  enum class step : std::uint8_t { idle, flushing, looking };
  // One operation under way.
  struct access final : transport::accessing {
    rdma* owner = nullptr;
    pe_id pe{0};
    outstanding* of = nullptr;
    bool counted = false;      // it has left the call that began it, and is outstanding
    bool* finished = nullptr;  // told while it has not
    bool changes = false;      // the target's memory
    wait::awaited_range range;
    std::atomic<bool>* sent = nullptr;
    reply* answer = nullptr;
    std::optional<signal_amo> signal;
    std::uint64_t operand = 0;
    void done() override { owner->moved(*this); }
    void lost(const char* why) override { owner->hooks_.lost(why); }
  };
  // What follows the accesses to one PE that change its memory: flush, then the look.
  struct flushing_peer final : transport::accessing {
    rdma* owner = nullptr;
    pe_id pe{0};
    bool connected = false;
    step at = step::idle;
    std::uint64_t awaited = 0;
    std::uint64_t behind = 0;  // messages to it that no put may overtake
    std::vector<access*> next, now;
    void done() override { owner->completed(*this); }
    void lost(const char* why) override { owner->hooks_.lost(why); }
  };

  // Of puts, or of gets, of similar size.
  struct transfers_of_size {
    explicit transfers_of_size(const model::correction_rules& how) : call_ns(0, how) {}
    std::uint64_t by_message = 0, by_rdma = 0, bytes = 0;
    model::corrected_term call_ns;  // of those by RDMA that end in the call
  };
  using transfers_by_size = std::vector<transfers_of_size>;  // by the width of their sizes

  [[nodiscard]] bool decides() const { return settings_.least_bytes == 0; }
  [[nodiscard]] bool measures() const { return !settings_.on.correction.off && decides(); }
  [[nodiscard]] std::int64_t begin_ns(std::uint64_t operations) const;  // 0: this one is not timed
  // Keeps what was decided.
  static bool counted(transfers_by_size& of, std::size_t bytes, bool by_rdma);
  access& begin(outstanding* of, pe_id pe, bool& finished);
  void began(access& one, const bool& finished);
  // The same, and how long all of the call took, if that is looked at.
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
  model::corrected_term ns_per_operation_;
  unsigned flushes_ = 1, too_small_ = 0;
  transfers_by_size puts_, gets_;
  std::vector<flushing_peer> peers_;
  pool<access> accesses_;
  std::vector<message_due> due_;
  rdma_counts counts_;
};

}  // namespace lull::fabric
