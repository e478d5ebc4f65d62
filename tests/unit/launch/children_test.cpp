#include "launch/children.hpp"

#include <gmock/gmock.h>

#include <map>

namespace lull::launch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// Processes of a simulated system, whose time advances while the caller pauses.
class made_up_processes final : public process_tree {
 public:
  enum class kind { ends_when_asked, ends_when_killed, in_the_kernel, in_the_kernel_for_a_minute };
  std::map<pid_t, kind> living;
  std::map<pid_t, std::vector<int>> signals;
  int looks = 0;

  std::vector<pid_t> descendants() override {
    ++looks;
    std::vector<pid_t> all;
    for (const auto& [pid, what] : living) all.push_back(pid);
    return all;
  }
  void signal(pid_t to, int number) override {
    signals[to].push_back(number);
    const kind what = living.at(to);
    if (what == kind::ends_when_asked || (what == kind::ends_when_killed && number == SIGKILL) ||
        (what == kind::in_the_kernel_for_a_minute && now_ms_ > 60'000))
      living.erase(to);
  }
  bool waits_in_the_kernel(pid_t process) override {
    if (!living.contains(process)) return false;
    const kind what = living.at(process);
    return what == kind::in_the_kernel || (what == kind::in_the_kernel_for_a_minute && now_ms_ <= 30'000);
  }
  void pause(int ms) override { now_ms_ += ms; }
  std::int64_t now_ns() override { return now_ms_ * 1'000'000; }

 private:
  std::int64_t now_ms_ = 0;
};

using kind = made_up_processes::kind;

TEST(ending_descendants, asks_first_and_kills_who_does_not_go) {
  made_up_processes tree;
  tree.living = {{10, kind::ends_when_asked}, {11, kind::ends_when_killed}};
  EXPECT_THAT(end_descendants(tree), IsEmpty());
  EXPECT_THAT(tree.signals[10], ElementsAre(SIGTERM));
  EXPECT_EQ(tree.signals[11].front(), SIGTERM);
  EXPECT_THAT(tree.signals[11], Contains(SIGKILL));
}

TEST(ending_descendants, gives_up_those_that_wait_in_the_kernel_and_names_them) {
  made_up_processes tree;
  tree.living = {{10, kind::ends_when_killed}, {11, kind::in_the_kernel}};
  EXPECT_THAT(end_descendants(tree, {.grace_ms = 1000, .give_up_ms = 10'000}), ElementsAre(11));
  EXPECT_LT(tree.looks, 400);  // it does not poll all the time
}

TEST(ending_descendants, goes_on_as_long_as_one_may_still_end) {
  made_up_processes tree;
  tree.living = {{11, kind::in_the_kernel_for_a_minute}};
  EXPECT_THAT(end_descendants(tree, {.grace_ms = 1000, .give_up_ms = 40'000}), IsEmpty());
}

}  // namespace
}  // namespace lull::launch
