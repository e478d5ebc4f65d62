#include "mpi/roles/roles.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "base/blocked_signals.hpp"
#include "base/settings.hpp"
#include "mpi/files/files.hpp"
#include "mpi/roles/exchange.hpp"
#include "mpi/roles/exit_handlers.hpp"
#include "mpi/roles/world.hpp"
#include "mpi/setup.hpp"
#include "stage/programs/staging.hpp"
#include "trace/recording/recorder.hpp"

namespace lull::mpi {
namespace {

stage::staging* staging = nullptr;
void* mpi_library = nullptr;

// From the folder of this library. Collective: null on all ranks, after a line, if it is null on one.
decltype(&lull_stage_begin) open_staging(stage::exchange& all) {
  Dl_info self;
  std::string path = dladdr(reinterpret_cast<void*>(&prepare_roles), &self) != 0 ? self.dli_fname : "";
  path = path.substr(0, path.rfind('/') + 1) + "liblull-stage-programs.so";
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const begin = handle != nullptr ? dlsym(handle, "lull_stage_begin") : nullptr;
  const std::string problem = begin != nullptr ? "" : fmt::format("stage the program's output: {}", dlerror());
  const std::string consequence = fmt::format("install Lull again if it is incomplete; {}", stage::writes_itself);
  return stage::all_could(all, problem, consequence) ? reinterpret_cast<decltype(&lull_stage_begin)>(begin) : nullptr;
}

// All ranks take part in finding the roles. A rank without Lull (it is linked statically, or was started without the
// preload) never does, and the others would wait without end; in this case the process exits, and the launcher ends the
// job. MPI_Init has just synchronised all ranks, so all should take part within moments.
class all_must_come {
 public:
  all_must_come() : timeout_(setting_real("LULL_NODE_TIMEOUT_S")) {
    const blocked_signals in_the_watcher;
    try {
      watcher_ = std::thread([this] { watch(); });
    } catch (const std::system_error&) {  // the watchers of other ranks suffice
    }
  }
  all_must_come(const all_must_come&) = delete;
  all_must_come& operator=(const all_must_come&) = delete;
  ~all_must_come() {
    {
      const std::lock_guard hold(lock_);
      came_ = true;
    }
    changed_.notify_one();
    if (watcher_.joinable()) watcher_.join();
  }

 private:
  void watch() {
    std::unique_lock hold(lock_);
    if (changed_.wait_for(hold, std::chrono::duration<double>(timeout_), [this] { return came_; })) return;
    fmt::print(stderr,
               "lull: stage the program's output: after {} s (LULL_NODE_TIMEOUT_S) not all ranks have joined; start "
               "every rank under Lull, or none\n",
               timeout_);
    std::fflush(stderr);
    _exit(EXIT_FAILURE);
  }

  const double timeout_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool came_ = false;
  std::thread watcher_;
};

bool is_spawned() {
  MPI_Comm parent = predefined.comm_null;
  LULL_LIBRARY(MPI_Comm_get_parent)(&parent);
  return parent != predefined.comm_null;
}

[[noreturn]] void serve(stage::exchange& all) {
  if (trace::recorder::wanted()) trace::recorder::of_process().withdraw();
  // The other ranks sleep only if all ranks of their node ring.
  const unsigned tools = tools_of_this_process() & waits;
  start_tools(tools);
  const int code = staging->serve(all);
  if (code == stage::cannot_serve) LULL_LIBRARY(MPI_Abort)(predefined.comm_world, EXIT_FAILURE);
  finish_tools(tools);
  LULL_LIBRARY(MPI_Finalize)();
  std::fflush(nullptr);
  // The program's exit handlers must not run in a process in which it has not run.
  run_exit_handlers_of(mpi_library);
  _exit(code);
}

// No exception reaches the program: ranks with different worlds would deadlock.
void set_aside() noexcept try {
  if (is_spawned()) return;
  const MPI_Comm world = predefined.comm_world;
  std::optional<all_must_come> deadline(std::in_place);
  mpi_exchange all(world);
  deadline.reset();
  const auto begin = open_staging(all);
  if (begin == nullptr) return;
  staging = begin(all);
  if (staging == nullptr) return;
  if (staging->sets_aside()) {
    MPI_Comm clients = predefined.comm_null;
    LULL_LIBRARY(MPI_Comm_split)(world, staging->is_server() ? MPI_UNDEFINED : 0, all.rank(), &clients);
    if (staging->is_server()) serve(all);
    LULL_LIBRARY(MPI_Comm_set_name)(clients, "MPI_COMM_WORLD");
    world_of_program = clients;
  }
  if (staging->join(all))
    stage_files(*staging);
  else
    staging = nullptr;
} catch (const std::exception& problem) {
  fmt::print(stderr, "lull: {}\n", problem.what());
  std::fflush(stderr);
  _exit(EXIT_FAILURE);
}

}  // namespace

bool roles_wanted() { return setting_is_set("LULL_STAGE"); }

void prepare_roles(void* library) {
  mpi_library = library;
  for (unsigned i = 0; i < function_count; ++i)
    library_functions[i] =
        reinterpret_cast<any_function>(dlsym(library, (std::string("P") + function_names[i]).c_str()));
  world_of_program = predefined.comm_world;
}

any_function under_roles(unsigned number, any_function real) noexcept {
  if (library_functions[number] == nullptr || in_our_world[number] == nullptr) return real;
  return in_our_world[number];
}

int init(int* argc, char*** argv) {
  const int result = LULL_LIBRARY(MPI_Init)(argc, argv);
  if (result == MPI_SUCCESS) set_aside();
  return result;
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = LULL_LIBRARY(MPI_Init_thread)(argc, argv, required, provided);
  if (result == MPI_SUCCESS) set_aside();
  return result;
}

int finalize() {
  if (staging != nullptr) {
    mpi_exchange clients(world_of_program);
    end_of_files();
    staging->leave(clients);
    staging = nullptr;
  }
  if (world_of_program != predefined.comm_world) LULL_LIBRARY(MPI_Comm_free)(&world_of_program);
  world_of_program = predefined.comm_world;
  return LULL_LIBRARY(MPI_Finalize)();
}

}  // namespace lull::mpi
