#include "base/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "base/blocked_signals.hpp"
#include "base/descriptor.hpp"

namespace lull {
namespace {

// The output of a shell that runs `script`.
std::string printed_by(child_process shell, const std::string& script) {
  descriptor_pair output = open_pipe();
  shell.program = "sh";
  shell.arguments = {"sh", "-c", script};
  shell.descriptors.emplace_back(output.second.get(), STDOUT_FILENO);
  pid_t id = 0;
  if (shell.start(id) != 0) return "not started";
  output.second.close();
  std::string all;
  char some[256];
  for (ssize_t got = 0; (got = read(output.first.get(), some, sizeof some)) > 0;)
    all.append(some, static_cast<std::size_t>(got));
  waitpid(id, nullptr, 0);
  return all;
}

TEST(child_process, has_the_environment_that_it_is_given) {
  EXPECT_EQ(printed_by({.environment = {"NAME=of the child"}}, "echo \"$NAME\""), "of the child\n");
}

TEST(child_process, of_our_own_has_all_variables_but_the_preloads) {
  const std::vector<std::string> all = environment_without_preloads();
  EXPECT_FALSE(std::ranges::any_of(all, [](const std::string& one) { return one.starts_with("LD_PRELOAD="); }));
  const std::vector<std::string> own = own_environment();
  const auto preloads = std::ranges::count_if(own, [](const auto& one) { return one.starts_with("LD_PRELOAD="); });
  EXPECT_EQ(all.size(), own.size() - static_cast<std::size_t>(preloads));
}

TEST(child_process, reads_nothing_where_it_is_given_nothing) {
  EXPECT_EQ(printed_by({.environment = own_environment(), .descriptors = {{child_process::nothing, STDIN_FILENO}}},
                       "cat; echo over"),
            "over\n");
}

TEST(child_process, has_no_descriptor_from_the_one_on_at_which_all_are_closed) {
  const descriptor inheritable(dup(STDERR_FILENO));
  const std::string script =
      "test -e /proc/self/fd/" + std::to_string(inheritable.get()) + " && echo there || echo gone";
  EXPECT_EQ(printed_by({.environment = own_environment()}, script), "there\n");
  EXPECT_EQ(printed_by({.environment = own_environment(), .close_from = 3}, script), "gone\n");
}

TEST(child_process, blocks_and_ignores_no_signal_where_signals_are_as_new) {
  const blocked_signals here;
  const auto before = signal(SIGPIPE, SIG_IGN);
  for (const char* const script : {"kill -s USR1 $$; echo lives", "kill -s PIPE $$; echo lives"}) {
    EXPECT_EQ(printed_by({.environment = own_environment()}, script), "lives\n");
    EXPECT_EQ(printed_by({.environment = own_environment(), .signals_as_new = true}, script), "");
  }
  signal(SIGPIPE, before);
}

TEST(child_process, leads_a_group_or_a_session_where_that_is_asked_for) {
  const char* const script =
      "read -r id name state parent group session rest < /proc/$$/stat; "
      "test $id = $group && echo group; test $id = $session && echo session; true";
  using leader = child_process::leader;
  EXPECT_EQ(printed_by({.environment = own_environment()}, script), "");
  EXPECT_EQ(printed_by({.environment = own_environment(), .leads = leader::of_group}, script), "group\n");
  EXPECT_EQ(printed_by({.environment = own_environment(), .leads = leader::of_session}, script), "group\nsession\n");
}

TEST(child_process, that_cannot_be_started_is_an_errno) {
  pid_t id = 0;
  const child_process missing{.program = "/no/such/program", .arguments = {"program"}, .environment = {}};
  EXPECT_EQ(missing.start(id), ENOENT);
}

}  // namespace
}  // namespace lull
