#include "stage/blocks/library_host.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stage/link/node_socket.hpp"
#include "stage/link/packet.hpp"

namespace lull::stage::blocks {
namespace {

constexpr const char* action = "run the plug-in";

// ---- the child: its requests are packets ----
//
//   {number of files, path}, then each file with its descriptor, then the plug-in's options → {"" or an error}

lull_stage_plugin function_of(const plugin& which) {
  void* const library = dlopen(which.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw error("open the plug-in", dlerror());
  const auto function = reinterpret_cast<lull_stage_plugin>(dlsym(library, which.function.c_str()));
  if (function == nullptr) throw error("open the plug-in", "the library has no function " + which.function);
  return function;
}

std::string call_once(const descriptor& socket, lull_stage_plugin function, packet_reader request) {
  std::vector<descriptor> files(request.take<std::uint64_t>());
  const std::string path = request.take_text();
  plugin with;
  with.options = request.take_text();
  std::vector<int> numbers;
  std::array<std::byte, largest_message> buffer;
  for (descriptor& one : files) {
    socket_message got = receive_message(socket, buffer, true);
    if (got.state != transfer::done || !got.passed[0]) return "a block did not arrive";
    one = std::move(got.passed[0]);
    numbers.push_back(one.get());
  }
  const iteration all(numbers, path);
  const lull_stage_iteration seen = all.for_plugin(with);
  const int code = function(&seen);
  return code == 0 ? "" : "it returned " + std::to_string(code);
}

std::string why(const std::exception& problem) { return problem.what(); }

[[noreturn]] void be_host(const descriptor& socket, const plugin& which) {
  // The program's handlers for exits and crashes do not concern this process.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::atexit([] { _exit(EXIT_FAILURE); });
  lull_stage_plugin function = nullptr;
  std::string failure;
  try {
    function = function_of(which);
  } catch (const std::exception& problem) {
    failure = why(problem);
  }
  std::array<std::byte, largest_message> buffer;
  for (;;) {
    if (send_message(socket, packet().put(failure).bytes(), {}, true) != transfer::done) _exit(EXIT_SUCCESS);
    const socket_message got = receive_message(socket, buffer, true);
    if (got.state != transfer::done) _exit(EXIT_SUCCESS);
    try {
      failure = call_once(socket, function, packet_reader(got.bytes));
    } catch (const std::exception& problem) {
      failure = why(problem);
    }
  }
}

void close_all_but(int kept) {
  if (kept > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, static_cast<unsigned>(kept) - 1, 0);
  close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

}  // namespace

library_host::library_host(const plugin& which) {
  auto [mine, its] = open_socket_pair(SOCK_SEQPACKET);
  if (!mine) throw error(action, describe_errno(errno));
  socket_ = std::move(mine);
  process_ = fork();
  if (process_ < 0) throw error(action, describe_errno(errno));
  if (process_ == 0) {
    (void)socket_.release();
    close_all_but(its.get());
    be_host(its, which);
  }
  its = {};
  hear_answer();
}

library_host::~library_host() {
  socket_ = {};
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void library_host::has_ended() {
  int status = 0;
  socket_ = {};
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
  throw error(action, WIFSIGNALED(status) ? fmt::format("its process was ended by signal {}", WTERMSIG(status))
                                          : std::string("it has exited its process"));
}

void library_host::hear_answer() {
  std::array<std::byte, largest_message> buffer;
  const socket_message got = receive_message(socket_, buffer, true);
  if (got.state != transfer::done) has_ended();
  const std::string failure = packet_reader(got.bytes).take_text();
  if (!failure.empty()) throw error(action, failure);
}

void library_host::call(const plugin& which, const iteration& with) {
  const auto files = std::uint64_t{with.descriptors().size()};
  const packet about = packet().put(files).put(with.path()).put(which.options);
  if (send_message(socket_, about.bytes(), {}, true) != transfer::done) has_ended();
  for (const int one : with.descriptors())
    if (send_message(socket_, packet().put(one).bytes(), {&one, 1}, true) != transfer::done) has_ended();
  hear_answer();
}

}  // namespace lull::stage::blocks
