#include "service/messages.hpp"

#include <gtest/gtest.h>

#include <random>

namespace lull::service {
namespace {

TEST(messages, an_opening_is_read_as_it_was_written) {
  const auto got = parse(
      R"({"v":1,"ask":"open","key":"slurm.7.0","uid":1000,"project":"p","cgroup":"/a/job_7","cpus":4,"memory_mib":9,)"
      R"("gpus":["nvml:gpu0"],"time_ns":12,"usage_us":3})");
  ASSERT_TRUE(got.wanted) << got.mistake;
  EXPECT_EQ(got.wanted->ask, verb::open);
  EXPECT_EQ(got.wanted->account.key, "slurm.7.0");
  EXPECT_EQ(got.wanted->account.uid, 1000);
  EXPECT_EQ(got.wanted->account.cgroup, "/a/job_7");
  EXPECT_EQ(got.wanted->account.holds.cpus, 4);
  EXPECT_EQ(got.wanted->account.holds.memory_mib, 9);
  EXPECT_EQ(got.wanted->account.holds.gpus, std::vector<std::string>{"nvml:gpu0"});
  EXPECT_EQ(got.wanted->time_ns, 12);
  EXPECT_EQ(got.wanted->usage_us, 3);
}

TEST(messages, a_mistake_is_named) {
  const auto mistake_in = [](const char* text) { return parse(text).mistake; };
  EXPECT_EQ(mistake_in("[]"), "the message is not a JSON object");
  EXPECT_EQ(mistake_in(R"({"ask":"mine"})"), "'v' is missing");
  EXPECT_EQ(mistake_in(R"({"v":2,"ask":"mine"})"), "this service has version 1 of the messages");
  EXPECT_EQ(mistake_in(R"({"v":1,"ask":"x"})"), "'x' is not a request");
  EXPECT_EQ(mistake_in(R"({"v":1,"ask":"mine","uid":1})"), "there is no field 'uid' here");
  EXPECT_EQ(mistake_in(R"({"v":1,"ask":"close","key":""})"), "'key' is empty");
  EXPECT_EQ(mistake_in(R"({"v":1,"ask":"used","key":"k"})"), "'usage_us' is missing");
  EXPECT_EQ(mistake_in(R"({"v":1,"ask":"open","key":"k"})"), "'uid' is missing");
  EXPECT_EQ(mistake_in(R"({"v":1,"ask":"open","key":"k","uid":-1})"), "'uid' is not a whole number of at least 0");
  EXPECT_EQ(mistake_in(R"({"v":1,"ask":"open","key":"k","uid":1e99})"), "'uid' is not a whole number of at least 0");
  for (const char* path : {"/a/../../etc", "a"}) {
    const std::string text = R"({"v":1,"ask":"open","key":"k","uid":1,"cgroup":")" + std::string(path) + "\"}";
    EXPECT_EQ(parse(text).mistake, "'cgroup' is not a path from the root of the groups");
  }
}

TEST(messages, changed_anywhere_are_read_or_refused_and_nothing_else) {
  const std::string good = R"({"v":1,"ask":"open","key":"k","uid":1,"gpus":["a"],"cgroup":"/x","time_ns":5})";
  std::mt19937 random(3);
  for (int n = 0; n < 20'000; ++n) {
    std::string text = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    if (random() % 4 == 0) text.resize(random() % text.size());
    const parsed got = parse(text);
    EXPECT_NE(got.wanted.has_value(), !got.mistake.empty());
  }
}

}  // namespace
}  // namespace lull::service
