// Starts a program of Lull, or one that a user has named, in addition to the program that this process runs.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lull {

// The environment of this process, as "NAME=value".
[[nodiscard]] inline std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
  return all;
}

// The environment for a program of Lull: preloads are only for the program that this process runs.
[[nodiscard]] inline std::vector<std::string> environment_without_preloads() {
  std::vector<std::string> all = own_environment();
  std::erase_if(all, [](const std::string& one) { return one.starts_with("LD_PRELOAD="); });
  return all;
}

// A null-terminated list, as exec and spawn require it. Valid as long as `texts`.
[[nodiscard]] inline std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& one : texts) all.push_back(const_cast<char*>(one.c_str()));  // exec only reads them
  all.push_back(nullptr);
  return all;
}

struct child_process {
  static constexpr int nothing = -1;  // instead of a descriptor: /dev/null, for reading

  std::string program{};                 // its path, or a name that PATH finds
  std::vector<std::string> arguments{};  // the first is its name
  std::vector<std::string> environment{};
  std::vector<std::pair<int, int>> descriptors{};  // {this process's, the child's}, in this order
  int close_from = 0;                              // the child closes this descriptor and all above; 0: none
  enum class leader : std::uint8_t { none, of_group, of_session } leads = leader::none;
  bool signals_as_new = false;  // none is blocked or ignored, whatever this process has set

  // Returns 0 and sets `id`, or returns errno.
  [[nodiscard]] int start(pid_t& id) const {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    for (const auto& [ours, its] : descriptors)
      if (ours == nothing)
        posix_spawn_file_actions_addopen(&files, its, "/dev/null", O_RDONLY, 0);
      else
        posix_spawn_file_actions_adddup2(&files, ours, its);
    if (close_from > 0) posix_spawn_file_actions_addclosefrom_np(&files, close_from);
    int flags = leads == leader::of_group     ? POSIX_SPAWN_SETPGROUP
                : leads == leader::of_session ? POSIX_SPAWN_SETSID
                                              : 0;
    posix_spawnattr_setpgroup(&attributes, 0);
    if (signals_as_new) {
      flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
      sigset_t none, all;
      sigemptyset(&none);
      sigfillset(&all);
      posix_spawnattr_setsigmask(&attributes, &none);
      posix_spawnattr_setsigdefault(&attributes, &all);
    }
    posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
    const std::vector<char*> with = pointers_to(arguments), variables = pointers_to(environment);
    const int failed = posix_spawnp(&id, program.c_str(), &files, &attributes, with.data(), variables.data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failed;
  }
};

}  // namespace lull
