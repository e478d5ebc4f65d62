// The part of libfabric's binary interface that Lull needs, which is stable: names as in its manual pages, fi_cq(3) among
// them, without the prefix. A test compares it with the installed headers.
#pragma once
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace lull::mpi::libfabric {

constexpr int wait_none = 0;        // FI_WAIT_NONE
constexpr int wait_descriptor = 3;  // FI_WAIT_FD
constexpr int get_wait_object = 5;  // FI_GETWAIT
constexpr ssize_t no_entry = -EAGAIN;

struct common_functions;

// What each object begins with.
struct identity {
  std::size_t kind;
  void* context;
  common_functions* functions;
};

// Each table begins with its size in bytes, which newer versions enlarge.
struct common_functions {
  std::size_t size;
  int (*close)(identity*);
  int (*bind)(identity*, identity*, std::uint64_t flags);
  int (*control)(identity*, int command, void* argument);
};

template <class Functions>
struct object {
  identity id;
  Functions* functions;
};

struct fabric_functions;
struct domain_functions;
struct queue_functions;
using fabric_object = object<fabric_functions>;
using domain_object = object<domain_functions>;
using queue_object = object<queue_functions>;

struct queue_attributes {
  std::size_t size;
  std::uint64_t flags;
  int format;
  int wait_object;
  int signaling_vector;
  int wait_condition;
  void* wait_set;
};

struct fabric_functions {
  std::size_t size;
  int (*open_domain)(fabric_object*, void* info, domain_object**, void* context);
  void (*passive_ep)();
  void (*eq_open)();
  void (*wait_open)();
  int (*trywait)(fabric_object*, identity**, int count);
  int (*open_domain2)(fabric_object*, void* info, domain_object**, std::uint64_t flags, void* context);
};

struct domain_functions {
  std::size_t size;
  void (*av_open)();
  int (*open_queue)(domain_object*, queue_attributes*, queue_object**, void* context);
};

struct queue_functions {
  std::size_t size;
  ssize_t (*read)(queue_object*, void* to, std::size_t count);
  ssize_t (*readfrom)(queue_object*, void* to, std::size_t count, std::uint64_t* sources);
};

}  // namespace lull::mpi::libfabric
