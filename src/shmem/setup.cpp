// shmem_init, shmem_finalize and the queries.
//
// A program may call shmem_init any number of times; as many calls of shmem_finalize end the use of OpenSHMEM, and
// another shmem_init begins it anew, with a new heap. Between the first and the last there is one world.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/settings.hpp"
#include "model/machine/machine_file.hpp"
#include "shmem.h"
#include "shmem/current.hpp"
#include "shmem/start_up.hpp"
#include "shmem/statistics.hpp"

namespace lull::shmem {

namespace {

std::atomic<int> initialisations = 0;  // calls of shmem_init that have no shmem_finalize yet
std::atomic<int> thread_level = SHMEM_THREAD_SINGLE;
job::bootstrap* current_boot = nullptr;      // of current_world
std::unique_ptr<job_statistics> statistics;  // of current_world

void warn_of_misspelt_settings() {
  static bool warned = false;  // once, however often the program starts anew
  if (!is_reporter() || std::exchange(warned, true)) return;
  for (const auto& [variable, nearest] : unknown_variables())
    std::fprintf(stderr, "lull: %s is not a setting and is ignored; did you mean %s?\n", variable.c_str(),
                 nearest.c_str());
}

// Runs before any PE waits for this one.
void check_settings() {
  for (const auto& row : all_settings()) check_setting(row);
  (void)model::this_machine();
}

// The bootstrap is leaked on purpose: a PE that exits without shmem_finalize must not appear to its launcher to have
// left in order, so nothing of the bootstrap may be destroyed at exit.
void join_job() {
  auto boot = std::make_unique<job::bootstrap>();
  try {
    check_settings();
    auto world = std::make_unique<fabric::world>(*boot);
    statistics = std::make_unique<job_statistics>(*world);
    current_world = world.release();
  } catch (const usage_error& mistake) {
    boot->abort_for_mistake(mistake);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "lull: %s\n", failure.what());
    boot.reset();  // it leaves in order: it has reported the error, and the other PEs will too
    std::_Exit(1);
  }
  current_boot = boot.release();
}

}  // namespace

}  // namespace lull::shmem

using lull::shmem::current_world;
using lull::shmem::here;

// A library that initialises OpenSHMEM again may need a higher level than its program: Lull can always provide it.
int shmem_init_thread(int requested, int* provided) {
  using namespace lull::shmem;
  try {
    const bool first = !current_world;
    if (first) {
      warn_of_misspelt_settings();
      join_job();
    }
    thread_level = std::clamp<int>(requested, first ? SHMEM_THREAD_SINGLE : thread_level.load(), SHMEM_THREAD_MULTIPLE);
    if (thread_level == SHMEM_THREAD_MULTIPLE) current_world->wait().expect_stores_of_threads();
    if (first) say_hello(*current_world, thread_level);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "lull: %s\n", failure.what());
    std::_Exit(1);
  }
  ++initialisations;
  if (provided) *provided = thread_level;
  return requested > thread_level ? 1 : 0;
}

void shmem_init() { shmem_init_thread(SHMEM_THREAD_SINGLE, nullptr); }

void shmem_query_thread(int* provided) { *provided = lull::shmem::thread_level; }
void shmem_query_initialized(int* initialized) { *initialized = lull::shmem::initialisations > 0 ? 1 : 0; }

void shmem_finalize() {
  if (!current_world) return;
  if (lull::shmem::initialisations > 1) {
    shmem_barrier_all();
    --lull::shmem::initialisations;
    return;
  }
  const std::unique_ptr<lull::job::bootstrap> boot(std::exchange(lull::shmem::current_boot, nullptr));
  const std::unique_ptr<lull::fabric::world> owner(std::exchange(current_world, nullptr));
  lull::shmem::initialisations = 0;
  try {
    if (const auto closing = std::move(lull::shmem::statistics)) closing->report();
    lull::shmem::say_goodbye(*owner);
    owner->finalize();
    lull::shmem::handles().free_all();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "lull: %s\n", failure.what());
  }
}

void shmem_global_exit(int status) {
  std::fflush(nullptr);
  here("shmem_global_exit").abort(status, "shmem_global_exit");
}

int shmem_my_pe() { return here("shmem_my_pe").me().index(); }
int shmem_n_pes() { return here("shmem_n_pes").pes(); }
int shmem_pe_accessible(int pe) { return pe >= 0 && pe < here("shmem_pe_accessible").pes() ? 1 : 0; }

int shmem_addr_accessible(const void* addr, int pe) {
  return shmem_pe_accessible(pe) && here("shmem_addr_accessible").memory().is_symmetric(addr) ? 1 : 0;
}

void* shmem_ptr(const void* dest, int pe) {
  if (!shmem_addr_accessible(dest, pe)) return nullptr;
  auto& world = here("shmem_ptr");
  // This PE maps its static variables at two addresses; the program knows one of them.
  return pe == world.me().index() ? const_cast<void*>(dest) : world.memory().direct(dest, lull::pe_id{pe});
}

void* shmem_team_ptr(shmem_team_t team, const void* dest, int pe) {
  const auto* const members = lull::shmem::team_of(here("shmem_team_ptr"), team);
  if (!members || pe < 0 || pe >= members->size()) return nullptr;
  return shmem_ptr(dest, members->pe(pe).index());
}

void shmem_pcontrol(int level, ...) {
  auto& world = here("shmem_pcontrol");
  world.count_calls(level != 0);
  if (level == 2) world.wait().clear_table();
}

void start_pes(int) {
  if (current_world) return;
  shmem_init();
  std::atexit([] {  // old programs do not call shmem_finalize
    while (current_world) shmem_finalize();
  });
}
int _my_pe() { return shmem_my_pe(); }
int _num_pes() { return shmem_n_pes(); }

// Caches are coherent on every machine on which Lull runs.
void shmem_set_cache_inv() {}
void shmem_clear_cache_inv() {}
void shmem_set_cache_line_inv(void*) {}
void shmem_clear_cache_line_inv(void*) {}
void shmem_udcflush() {}
void shmem_udcflush_line(void*) {}

void shmem_info_get_version(int* major, int* minor) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

void shmem_info_get_name(char* name) { std::snprintf(name, SHMEM_MAX_NAME_LEN, "%s", SHMEM_VENDOR_STRING); }
