#include "shmem_trace/recorded.hpp"

#include <dlfcn.h>

#include <mutex>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/loaded_object.hpp"

// The runtime's functions by their second names, so that no call comes back to a wrapper.
extern "C" {
[[gnu::weak]] int pshmem_my_pe(void);
[[gnu::weak]] int pshmem_n_pes(void);
[[gnu::weak]] int pshmem_team_my_pe(void* team);
[[gnu::weak]] int pshmem_team_n_pes(void* team);
[[gnu::weak]] int pshmem_team_translate_pe(void* from, int pe, void* to);
[[gnu::weak]] int pshmem_ctx_get_team(void* context, void** team);
[[gnu::weak]] void pshmem_query_initialized(int* initialized);
}

namespace lull::shmem_trace {
namespace {

constexpr std::uint16_t symmetric_memory = 0;  // the number of the window
constexpr std::uint16_t unknown = 0xffff;

struct team_in_trace {
  std::uint16_t number = unknown;
  int size = 0;
  int rank = 0;
};

// They live as long as the process, whose threads may call while it exits.
struct tables {
  std::mutex mutex;
  std::unordered_map<void*, team_in_trace> teams;
  std::uint16_t next_team = 0;
  std::uint16_t next_region = 0;
};

tables& all() {
  static tables& made = *new tables;
  return made;
}

// Call with the lock held.
const team_in_trace& defined(tables& of, void* team, std::string_view name) {
  const int size = pshmem_team_n_pes(team);
  std::vector<int> members(size > 0 ? static_cast<std::size_t>(size) : 0);
  for (int pe = 0; pe < size; ++pe) members[static_cast<std::size_t>(pe)] = pshmem_team_translate_pe(team, pe, world);
  team_in_trace made{of.next_team, size, pshmem_team_my_pe(team)};
  if (of.next_team != unknown) trace::recorder::of_process().define_communicator(of.next_team++, members, name);
  return of.teams[team] = made;
}

team_in_trace look_up(void* team) {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  const auto known = of.teams.find(team);
  return known != of.teams.end() ? known->second : defined(of, team, team == world ? "SHMEM_TEAM_WORLD" : "");
}

bool initialised() {
  int answer = 0;
  pshmem_query_initialized(&answer);
  return answer != 0;
}

// The PE in the world that `pe` of a context denotes.
int in_the_world(void* context, int pe) {
  if (context == default_context) return pe;
  void* team = nullptr;
  return pshmem_ctx_get_team(context, &team) == 0 ? pshmem_team_translate_pe(team, pe, world) : -1;
}

}  // namespace

// A program that tests for an OpenSHMEM, by a weak reference or by dlsym, must not find the wrappers.
[[gnu::constructor]] void have_names_where_there_is_openshmem() {
  loaded_object ours;
  bool there_is_one = false;
  each_loaded([&](const loaded_object& object) {
    if (object.contains(reinterpret_cast<const void*>(&wanted)))
      ours = object;
    else
      there_is_one = there_is_one || object.defines("pshmem_init");
    return false;
  });
  if (there_is_one) return;
  change_definitions(ours, [](ElfW(Sym) & symbol, const char* name) {
    if (std::string_view(name).starts_with("shmem") || std::string_view(name) == "start_pes")
      __atomic_store_n(&symbol.st_value, 0, __ATOMIC_RELAXED);
  });
  unbind_weak_references(ours, [&](std::uintptr_t address) {
    return address != 0 && ours.contains(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
  });
}

// Another OpenSHMEM's handles have other meanings, so its programs are not recorded.
bool wanted() noexcept {
  static const bool is = trace::recorder::wanted() && dlsym(RTLD_DEFAULT, "lull_aggregator_free") != nullptr;
  return is;
}
constinit thread_local bool recorded::inside = false;

std::uint16_t region::define() noexcept {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  if (number_.load(std::memory_order_relaxed) == undefined) {
    const std::string_view names[] = {name_};
    trace::recorder::of_process().define_regions("shmem", of.next_region, names);
    number_.store(of.next_region++, std::memory_order_release);
  }
  return number_.load(std::memory_order_relaxed);
}

void recorded::put(kind what, std::uint16_t comm, int peer, std::size_t bytes) noexcept {
  if (!outermost_) return;
  constexpr std::size_t low_56_bits = (std::size_t{1} << 56) - 1;
  log_->put({.begin = begin_,
             .duration = static_cast<std::uint32_t>(took_),
             .region = region_,
             .comm = comm,
             .peer = peer,
             .tag = -1,
             .bytes = bytes & low_56_bits,
             .what = what});
  if (took_ >> 32 != 0) [[unlikely]]
    more(kind::longer, 0, -1, took_ >> 32);
}

void recorded::more(kind what, std::uint16_t comm, int peer, std::size_t bytes) noexcept {
  if (!outermost_) return;
  constexpr std::size_t low_56_bits = (std::size_t{1} << 56) - 1;
  log_->put({.comm = comm, .peer = peer, .tag = -1, .bytes = bytes & low_56_bits, .what = what});
}

void recorded::one_sided(kind what, void* context, int pe, std::size_t bytes) noexcept {
  if (!outermost_) return;
  const int target = in_the_world(context, pe);
  if (target < 0) return plain();
  put(what, symmetric_memory, target, bytes);
}

void recorded::collective(void* team, int root, std::size_t given, std::size_t got) noexcept {
  if (!outermost_) return;
  const team_in_trace of = team != nullptr ? look_up(team) : team_in_trace{};
  if (of.number == unknown) return plain();
  put(kind::collective, of.number, root, given);
  if (got != given) more(kind::more_received, of.number, -1, got);
}

void recorded::broadcast(void* team, int root, std::size_t bytes) noexcept {
  if (!outermost_) return;
  const bool gives = team != nullptr && look_up(team).rank == root;
  collective(team, root, gives ? bytes : 0, gives ? 0 : bytes);
}

void recorded::completed_at_targets() noexcept {
  plain();
  more(kind::completed_at_target, symmetric_memory, -1, 0);
}

void recorded::finalized() noexcept {
  if (!outermost_ || !initialised()) return plain();
  static constinit region barrier{"shmem_barrier_all"};
  region_ = barrier.number();
  collective(world, -1, 0, 0);
}

void recorded::made_team(int result, void* new_team) noexcept {
  void* const team = result == 0 && new_team != nullptr ? *static_cast<void**>(new_team) : nullptr;
  if (!outermost_ || team == nullptr) return;
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  defined(of, team, "");
}

std::size_t size_of(void* team) noexcept {
  const int size = team != nullptr ? pshmem_team_n_pes(team) : 0;
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

void forget_team(void* team) noexcept {
  tables& of = all();
  const std::lock_guard lock(of.mutex);
  of.teams.erase(team);
}

void after_init() noexcept {
  static std::once_flag once;
  if (!wanted()) return;
  std::call_once(once, [] {
    trace::recorder& recorder = trace::recorder::of_process();
    recorder.define_process(pshmem_my_pe(), pshmem_n_pes(), "shmem", "Lull");
    recorder.define_window(symmetric_memory, look_up(world).number, "symmetric memory");
  });
}

void before_finalize() noexcept {
  if (wanted()) trace::recorder::of_process().take_clocks();
}

// The trace ends with the call that leaves OpenSHMEM uninitialised, not with those of nested pairs before it.
void after_finalize() noexcept {
  if (wanted() && !initialised()) trace::recorder::of_process().close();
}

}  // namespace lull::shmem_trace

// The old name of shmem_init has no second name.
extern "C" [[gnu::visibility("default")]] void start_pes(int npes) {
  using namespace lull::shmem_trace;
  static constinit region mine{"start_pes"};
  recorded call(mine);
  if (const auto real = reinterpret_cast<void (*)(int)>(dlsym(RTLD_NEXT, "start_pes"))) real(npes);
  call.returned();
  call.plain();
  after_init();
}
