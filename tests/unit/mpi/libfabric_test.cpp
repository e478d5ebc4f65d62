// The part of libfabric's interface that Lull declares itself has the layout of the installed headers.
#include "mpi/waiting/networks/libfabric.hpp"

#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

namespace lull::mpi::libfabric {
namespace {

// NOLINTBEGIN(cppcoreguidelines-macro-usage): offsetof is one
#define LULL_SAME_PLACE(ours, our_member, theirs, their_member) \
  EXPECT_EQ(offsetof(ours, our_member), offsetof(struct theirs, their_member))
// NOLINTEND(cppcoreguidelines-macro-usage)

TEST(libfabric, objects_begin_as_in_its_headers) {
  LULL_SAME_PLACE(identity, functions, fid, ops);
  LULL_SAME_PLACE(fabric_object, functions, fid_fabric, ops);
  LULL_SAME_PLACE(domain_object, functions, fid_domain, ops);
  LULL_SAME_PLACE(queue_object, functions, fid_cq, ops);
}

TEST(libfabric, tables_have_their_functions_where_its_headers_have_them) {
  LULL_SAME_PLACE(common_functions, close, fi_ops, close);
  LULL_SAME_PLACE(common_functions, control, fi_ops, control);
  LULL_SAME_PLACE(fabric_functions, open_domain, fi_ops_fabric, domain);
  LULL_SAME_PLACE(fabric_functions, trywait, fi_ops_fabric, trywait);
  LULL_SAME_PLACE(fabric_functions, open_domain2, fi_ops_fabric, domain2);
  LULL_SAME_PLACE(domain_functions, open_queue, fi_ops_domain, cq_open);
  LULL_SAME_PLACE(queue_functions, read, fi_ops_cq, read);
  LULL_SAME_PLACE(queue_functions, readfrom, fi_ops_cq, readfrom);
}

TEST(libfabric, attributes_and_numbers_are_those_of_its_headers) {
  EXPECT_EQ(sizeof(queue_attributes), sizeof(fi_cq_attr));
  LULL_SAME_PLACE(queue_attributes, wait_object, fi_cq_attr, wait_obj);
  EXPECT_EQ(wait_none, FI_WAIT_NONE);
  EXPECT_EQ(wait_descriptor, FI_WAIT_FD);
  EXPECT_EQ(get_wait_object, FI_GETWAIT);
  EXPECT_EQ(no_entry, -FI_EAGAIN);
}

}  // namespace
}  // namespace lull::mpi::libfabric
