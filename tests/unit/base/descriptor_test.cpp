#include "base/descriptor.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lull {
namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

struct holds_one {
  explicit holds_one(int& number) : held(open_event_fd()) {
    number = held.get();
    throw std::runtime_error("after it was opened");
  }
  descriptor held;
};

TEST(descriptor, is_closed_where_a_constructor_throws) {
  int number = -1;
  EXPECT_THROW(holds_one{number}, std::runtime_error);
  ASSERT_GE(number, 0);
  EXPECT_FALSE(is_open(number));
}

TEST(descriptor, is_closed_once_by_its_last_owner) {
  descriptor first = open_event_fd();
  const int number = first.get();
  {
    const descriptor second = std::move(first);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(descriptor, that_is_given_away_stays_open) {
  int number = -1;
  {
    descriptor given = open_event_fd();
    number = given.release();
  }
  EXPECT_TRUE(is_open(number));
  const descriptor taken(number);
}

TEST(descriptors_of_a_pipe, lead_from_the_second_to_the_first_and_no_child_inherits_them) {
  const descriptor_pair made = open_pipe();
  ASSERT_TRUE(made);
  for (const descriptor* one : {&made.first, &made.second})
    EXPECT_EQ(fcntl(one->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  char byte = 0;
  ASSERT_EQ(write(made.second.get(), "x", 1), 1);
  ASSERT_EQ(read(made.first.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(descriptors_of_a_pipe, end_when_the_other_end_is_closed) {
  descriptor_pair made = open_pipe();
  made.second.close();
  char byte = 0;
  EXPECT_EQ(read(made.first.get(), &byte, 1), 0);
}

TEST(descriptors_of_a_connection, are_of_the_type_asked_for) {
  const descriptor_pair made = open_socket_pair(SOCK_SEQPACKET);
  ASSERT_TRUE(made);
  int type = 0;
  socklen_t bytes = sizeof type;
  ASSERT_EQ(getsockopt(made.second.get(), SOL_SOCKET, SO_TYPE, &type, &bytes), 0);
  EXPECT_EQ(type, SOCK_SEQPACKET);
}

}  // namespace
}  // namespace lull
