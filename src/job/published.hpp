// What all processes of a job publish under one key, as each of them reads it.
//
// If each process looked up the data of all others, p processes of a host in a job of n would put p·n questions to the
// launcher. Instead the first process of each host looks up all data, and writes it into memory that the others map. A
// process that cannot map it, as in another PID namespace, looks up the data itself.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "job/bootstrap.hpp"
#include "job/segment.hpp"

namespace lull::job {

class published {
 public:
  // Collective, once for each key. Publishes `mine`, and returns when the data of all processes can be read. Throws
  // lull::error if the data of one cannot be found.
  published(bootstrap& boot, const std::string& key, std::span<const std::byte> mine);

  // Valid as long as this object. The first process of a host should keep it until the others have constructed theirs:
  // later ones look up the data themselves.
  [[nodiscard]] std::span<const std::byte> of(pe_id process) const {
    return data_[static_cast<std::size_t>(process.index())];
  }

  // The bytes to publish for a process that has found a mistake and so will not construct this object.
  [[nodiscard]] static std::vector<std::byte> without_table(std::span<const std::byte> mine);

 private:
  void look_up(const bootstrap& boot, const std::string& key);
  void write_table() noexcept;
  [[nodiscard]] bool read_table(const segment_name& where, std::size_t processes);
  void find_data(std::span<const std::byte> table, std::size_t processes);

  std::unique_ptr<segment> memory_;  // of the first process of a host with several
  mapping head_, table_;             // what these processes share, or
  std::vector<std::byte> own_;       // what this one has looked up
  std::vector<std::span<const std::byte>> data_;
};

}  // namespace lull::job
