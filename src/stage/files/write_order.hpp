// An order for a server: what a client has handed over, and everything needed to write it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "stage/files/claim.hpp"
#include "stage/files/form.hpp"

namespace lull::stage {

struct write_order {
  int client;  // its rank
  std::uint64_t number;
  destination where;
  mode_t creation_mask;  // the client's umask
  descriptor content;
  claim place;          // of a whole file
  std::uint32_t order;  // its number among the client's whole files
  form what;
  std::string together;  // orders with this name are written together; empty: by itself
};

}  // namespace lull::stage
