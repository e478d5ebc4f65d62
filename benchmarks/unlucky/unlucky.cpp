// unlucky: patterns of small messages, by the plain operations and by what is to make them faster, in turn.
//
//   unlucky aggregation|transformation ROUNDS MILLISECONDS PATTERN...
//
// aggregation: an atomic increment for each item (a put if it is larger) and a barrier for each phase, in turn with
// lull::aggregator, whose handler has direct(). transformation: puts of a context that rewrites nothing, in turn with
// those of one under `auto`. A PATTERN is a list of KEY=VALUE, separated by semicolons; unlucky.toml describes the keys.
//
// A pass consists of as many phases as the plain operations carry out in MILLISECONDS; all PEs make it together. PE 0
// prints one JSON object for each pattern and round: microseconds of a phase, of the slowest PE, and microseconds of CPU
// time of all PEs, plain and with. It fails if increments are lost.
#include <shmem.h>
#include <shmemx.h>
#include <time.h>
#include <unistd.h>
#include <lull/aggregate.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using std::uint64_t;

constexpr uint64_t words = 10'000, largest_item = std::uint64_t{64} << 10U, puts_apart = 128;
constexpr std::size_t warm_ups = 3;  // passes; the first also determine the number of phases

std::int64_t nanoseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void compute(std::int64_t ns) {
  if (ns == 0) return;
  for (const std::int64_t until = nanoseconds(CLOCK_MONOTONIC) + ns; nanoseconds(CLOCK_MONOTONIC) < until;) {
  }
}

[[noreturn]] void fail(const std::string& why) {
  if (shmem_my_pe() == 0) std::fprintf(stderr, "unlucky: %s\n", why.c_str());
  shmem_global_exit(1);
  std::abort();
}

struct pattern {
  std::vector<uint64_t> items{1};  // of a PE, by phase
  std::vector<uint64_t> bytes{8};  // by item
  std::string to = "any", from = "all", end = "quiet";
  std::int64_t work_ns = 0, phase_work_ns = 0, nap_us = 0;  // after an item; in a phase; asleep, at random up to this
  bool blocking = true;
};

std::vector<uint64_t> numbers(const std::string& text) {
  std::vector<uint64_t> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) all.push_back(std::strtoull(one.c_str(), nullptr, 10));
  return all;
}

pattern parse(const std::string& text) {
  pattern p;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ';');) {
    const auto at = one.find('=');
    const std::string key = one.substr(0, at), value = at == std::string::npos ? "" : one.substr(at + 1);
    const auto number = [&] { return std::strtoll(value.c_str(), nullptr, 10); };
    if (key == "items")
      p.items = numbers(value);
    else if (key == "bytes")
      p.bytes = numbers(value);
    else if (key == "to")
      p.to = value;
    else if (key == "from")
      p.from = value;
    else if (key == "end")
      p.end = value;
    else if (key == "work_ns")
      p.work_ns = number();
    else if (key == "phase_work_ns")
      p.phase_work_ns = number();
    else if (key == "nap_us")
      p.nap_us = number();
    else if (key == "blocking")
      p.blocking = number() != 0;
    else
      fail("no key " + key);
  }
  if (p.items.empty() || p.bytes.empty() || *std::ranges::max_element(p.bytes) > largest_item)
    fail("items and bytes need values, bytes at most " + std::to_string(largest_item));
  return p;
}

struct item {
  uint64_t word, bytes;
  int pe;
};

// What a PE sends, phase after phase, the same with each kind of operation.
class source {
 public:
  explicit source(const pattern& p) : p_(p), draw_(static_cast<uint64_t>(shmem_my_pe()) + 1) {
    const int node = shmemx_node_of(me_);
    for (int pe = 0; pe < pes_; ++pe) {
      const bool near = shmemx_node_of(pe) == node;
      if (p.to == "any" || (p.to == "near" && near) || (p.to == "far" && !near)) targets_.push_back(pe);
    }
    if (p.to == "next") targets_ = {(me_ + 1) % pes_};
    if (p.to == "first") targets_ = {0};
    if (p.to == "self") targets_ = {me_};
    if (p.to == "turns")
      for (int i = 1; i < pes_; ++i) targets_.push_back((me_ + i) % pes_);
    if (targets_.empty()) fail("no PE to send to: " + p.to);
  }
  [[nodiscard]] uint64_t count(uint64_t phase) const {
    const bool sends = p_.from == "all" || (p_.from == "one" && me_ == 0) ||
                       (p_.from == "turns" && phase % static_cast<uint64_t>(pes_) == static_cast<uint64_t>(me_));
    return sends ? p_.items[phase % p_.items.size()] : 0;
  }
  item next() {
    const uint64_t r = draw_(), n = number_++;
    const std::size_t at = p_.to == "turns" ? n % targets_.size() : (r >> 32U) % targets_.size();
    return {r % words, p_.bytes[n % p_.bytes.size()], targets_[at]};
  }
  void pause() {
    compute(p_.phase_work_ns);
    if (p_.nap_us != 0) usleep(static_cast<useconds_t>(draw_() % static_cast<uint64_t>(p_.nap_us)));
  }

 private:
  const pattern& p_;
  int me_ = shmem_my_pe(), pes_ = shmem_n_pes();
  std::vector<int> targets_;
  std::mt19937_64 draw_;
  uint64_t number_ = 0;
};

struct memory {
  uint64_t* table = static_cast<uint64_t*>(shmem_calloc(words, sizeof(uint64_t)));
  std::byte* place = static_cast<std::byte*>(shmem_malloc(words * puts_apart + largest_item));  // of larger items
  uint64_t* flag = static_cast<uint64_t*>(shmem_calloc(1, sizeof(uint64_t)));
  double* times = static_cast<double*>(shmem_malloc(8 * sizeof(double)));
  std::vector<std::byte> from = std::vector<std::byte>(largest_item);
  uint64_t sent = 0, told = 0;
};

// One kind of operation: a pass over some phases.
struct kind {
  virtual ~kind() = default;
  virtual void pass(source& of, uint64_t phases) = 0;
};

// ---- Aggregation

template <std::size_t Bytes>
struct payload {
  uint64_t word;
  std::byte rest[Bytes - sizeof(uint64_t)]{};
};
template <>
struct payload<8> {
  uint64_t word;
};

template <class Item>
struct handler {
  memory* at;
  static constexpr bool counts = sizeof(Item) == 8;
  [[nodiscard]] std::byte* place(uint64_t word) const { return at->place + word * puts_apart; }
  void operator()(const Item& one) const {
    if constexpr (counts)
      ++at->table[one.word];
    else
      std::memcpy(place(one.word), &one, sizeof one);
  }
  void direct(const Item& one, int pe) const {
    if constexpr (counts)
      shmem_uint64_atomic_inc(at->table + one.word, pe);
    else
      shmem_putmem(place(one.word), &one, sizeof one, pe);
  }
};

template <class Item>
struct plainly final : kind {
  const pattern& p;
  memory& at;
  plainly(const pattern& of, memory& m) : p(of), at(m) {}
  void pass(source& of, uint64_t phases) override {
    const handler<Item> plain{&at};
    for (uint64_t phase = 0; phase < phases; ++phase) {
      for (uint64_t i = of.count(phase); i != 0; --i) {
        const item one = of.next();
        at.sent += handler<Item>::counts ? 1 : 0;
        plain.direct(Item{.word = one.word}, one.pe);
        compute(p.work_ns);
      }
      of.pause();
      shmem_barrier_all();
    }
  }
};

template <class Item>
struct aggregated final : kind {
  const pattern& p;
  memory& at;
  lull::aggregator<Item, handler<Item>> by;
  aggregated(const pattern& of, memory& m) : p(of), at(m), by(lull::items_of<Item>{}, handler<Item>{&m}) {}
  void pass(source& of, uint64_t phases) override {
    for (uint64_t phase = 0; phase < phases; ++phase) {
      for (uint64_t i = of.count(phase); i != 0; --i) {
        const item one = of.next();
        at.sent += handler<Item>::counts ? 1 : 0;
        by.push(Item{.word = one.word}, one.pe);
        compute(p.work_ns);
      }
      of.pause();
      by.done();
    }
  }
};

// ---- Transformation

struct putting final : kind {
  const pattern& p;
  memory& at;
  shmem_ctx_t by{};
  putting(const pattern& of, memory& m, const char* how) : p(of), at(m) {
    if (shmem_ctx_create(0, &by) != 0 || shmemx_ctx_set_transform(by, how) != 0) fail("no context");
  }
  putting(const putting&) = delete;
  putting& operator=(const putting&) = delete;
  ~putting() override { shmem_ctx_destroy(by); }

  void send(source& of, uint64_t phase) {
    int last = (shmem_my_pe() + 1) % shmem_n_pes();
    for (uint64_t i = of.count(phase); i != 0; --i) {
      const item one = of.next();
      (p.blocking ? shmem_ctx_putmem : shmem_ctx_putmem_nbi)(by, at.place + one.word * puts_apart, at.from.data(),
                                                             one.bytes, last = one.pe);
      compute(p.work_ns);
    }
    if (p.end == "get") (void)shmem_ctx_uint64_g(by, at.flag, last);
    if (p.end == "atomic") shmem_ctx_uint64_atomic_add(by, at.table, 0, last);
  }
  void notify(int pe) {
    if (p.end == "flag") shmem_ctx_fence(by);
    if (p.end == "lazy-flag") shmem_ctx_quiet(by);
    shmem_ctx_uint64_p(by, at.flag, at.told, pe);
  }
  // "flag", "lazy-flag" and "polled": two PEs take turns. The last two let the flag lie while they compute.
  void exchange(source& of, uint64_t phase) {
    const int me = shmem_my_pe(), half = shmem_n_pes() / 2, partner = (me + half) % shmem_n_pes();
    ++at.told;
    if (me >= half) shmem_uint64_wait_until(at.flag, SHMEM_CMP_GE, at.told);
    send(of, phase);
    notify(partner);
    of.pause();
    if (me < half) shmem_uint64_wait_until(at.flag, SHMEM_CMP_GE, at.told);
  }
  void pass(source& of, uint64_t phases) override {
    for (uint64_t phase = 0; phase < phases; ++phase) {
      if (p.end == "flag" || p.end == "lazy-flag" || p.end == "polled") {
        exchange(of, phase);
        continue;
      }
      send(of, phase);
      of.pause();
      if (p.end == "quiet") shmem_ctx_quiet(by);
      if (p.end == "fence") shmem_ctx_fence(by);
      if (p.end == "barrier") shmem_ctx_quiet(by), shmem_barrier_all();
    }
    shmem_ctx_quiet(by);
  }
};

// ---- Measurement

struct taken {
  double us, cpu_us;
};

taken timed(kind& by, source& of, uint64_t phases, memory& at) {
  shmem_barrier_all();
  const std::int64_t wall = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  by.pass(of, phases);
  shmem_barrier_all();
  at.times[0] = static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - wall) / 1e3 / static_cast<double>(phases);
  at.times[1] = static_cast<double>(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e3 / static_cast<double>(phases);
  shmem_double_max_reduce(SHMEM_TEAM_WORLD, at.times + 2, at.times, 1);
  shmem_double_sum_reduce(SHMEM_TEAM_WORLD, at.times + 3, at.times + 1, 1);
  return {at.times[2], at.times[3]};
}

void measure(const char* name, const pattern& p, kind& plain, kind& with, int rounds, double ms, memory& at) {
  source of(p);
  uint64_t phases = 8 * p.items.size();
  for (std::size_t i = 0; i < warm_ups; ++i) {
    const double us = timed(plain, of, phases, at).us;  // the same on all PEs
    timed(with, of, phases, at);
    const uint64_t cycles = static_cast<uint64_t>(std::max(1.0, ms * 1e3 / us / static_cast<double>(p.items.size())));
    phases = cycles * p.items.size();
  }
  for (int round = 0; round < rounds; ++round) {
    taken off{}, on{};
    const auto first = [&] { off = timed(plain, of, phases, at); };
    const auto second = [&] { on = timed(with, of, phases, at); };
    if (round % 2 == 0)
      first(), second();
    else
      second(), first();
    if (shmem_my_pe() == 0)
      std::printf(
          "{\"pattern\": \"%s\", \"plain_us\": %.4f, \"with_us\": %.4f, \"plain_cpu_us\": %.4f, "
          "\"with_cpu_us\": %.4f}\n",
          name, off.us, on.us, off.cpu_us, on.cpu_us);
  }
}

template <std::size_t Bytes>
void measure_aggregation(const char* name, const pattern& p, int rounds, double ms, memory& at) {
  plainly<payload<Bytes>> plain(p, at);
  aggregated<payload<Bytes>> with(p, at);
  measure(name, p, plain, with, rounds, ms, at);
}

// All increments have arrived.
void check(memory& at) {
  auto* const sums = static_cast<uint64_t*>(shmem_calloc(4, sizeof(uint64_t)));
  for (uint64_t i = 0; i < words; ++i) sums[0] += at.table[i];
  sums[1] = at.sent;
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, sums + 2, sums, 2);
  if (sums[2] != sums[3])
    fail(std::to_string(sums[3]) + " increments were sent, " + std::to_string(sums[2]) + " arrived");
  shmem_free(sums);
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  if (argc < 5) fail("usage: unlucky aggregation|transformation ROUNDS MILLISECONDS PATTERN...");
  const bool aggregates = std::string(argv[1]) == "aggregation";
  const int rounds = std::atoi(argv[2]);
  const double ms = std::atof(argv[3]);
  {
    memory at;
    for (int i = 4; i < argc; ++i) {
      const pattern p = parse(argv[i]);
      if (!aggregates) {
        putting plain(p, at, "off"), with(p, at, "auto");
        measure(argv[i], p, plain, with, rounds, ms, at);
        continue;
      }
      switch (p.bytes[0]) {
        case 8:
          measure_aggregation<8>(argv[i], p, rounds, ms, at);
          break;
        case 64:
          measure_aggregation<64>(argv[i], p, rounds, ms, at);
          break;
        case 1024:
          measure_aggregation<1024>(argv[i], p, rounds, ms, at);
          break;
        default:
          fail("items of an aggregator have 8, 64 or 1024 bytes here");
      }
      check(at);
      std::fill_n(at.table, words, 0);
      at.sent = 0;
      shmem_barrier_all();
    }
  }
  shmem_finalize();
  return 0;
}
