#include "job/modex.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/received_bytes.hpp"

namespace lull::job {
namespace {

constexpr std::array<char, 8> name{'l', 'u', 'l', 'l', '-', 'j', 'o', 'b'};
constexpr std::uint32_t form = 2;  // version of the data after the header
constexpr const char* fix = "load the same build of Lull on all nodes";

struct begin {
  std::array<char, 8> name;
  std::array<char, 24> version;
  std::uint32_t form;
};
struct head {
  place where;
  std::uint32_t core_words, mistake_bytes;
};

std::array<char, 24> this_version() {
  std::array<char, 24> text{};
  constexpr std::string_view version = LULL_VERSION;
  std::copy_n(version.begin(), std::min(version.size(), text.size() - 1), text.begin());
  return text;
}

// Copies bytes to `at`; returns the end of the copy.
std::byte* put(std::byte* at, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(at, from, bytes);
  return at + bytes;
}

}  // namespace

std::vector<std::byte> to_bytes(const modex_data& of) {
  const begin version{name, this_version(), form};
  const head first{of.where, static_cast<std::uint32_t>(of.cores.size()),
                   static_cast<std::uint32_t>(of.mistake.size())};
  const std::size_t core_bytes = of.cores.size() * sizeof of.cores[0];
  std::vector<std::byte> all(sizeof version + sizeof first + core_bytes + of.mistake.size() + of.added.size());
  std::byte* at = put(all.data(), &version, sizeof version);
  at = put(at, &first, sizeof first);
  at = put(at, of.cores.data(), core_bytes);
  at = put(at, of.mistake.data(), of.mistake.size());
  put(at, of.added.data(), of.added.size());
  return all;
}

modex_data modex_data_from(std::span<const std::byte> bytes, pe_id from) {
  const std::string action = "join the job with PE " + std::to_string(from.index());
  if (bytes.size() < sizeof(begin) || std::memcmp(bytes.data(), name.data(), name.size()) != 0)
    throw error(action, "it runs another version of Lull than this PE, which runs " LULL_VERSION, fix);
  received_bytes read(bytes, action);
  auto version = read.take<begin>();
  version.version.back() = '\0';
  if (version.version != this_version())
    throw error(action, std::string("it runs Lull ") + version.version.data() + ", and this PE runs " LULL_VERSION,
                fix);
  if (version.form != form) throw error(action, "it runs another build of Lull " LULL_VERSION " than this PE", fix);
  const auto first = read.take<head>();
  modex_data of{.where = first.where};
  const auto cores = read.take(std::size_t{first.core_words} * sizeof of.cores[0]);
  of.cores.resize(first.core_words);
  std::memcpy(of.cores.data(), cores.data(), cores.size());
  const auto mistake = read.take(first.mistake_bytes);
  if (!mistake.empty())
    throw mistake_of_other("PE " + std::to_string(from.index()) + ": " +
                           std::string(reinterpret_cast<const char*>(mistake.data()), mistake.size()));
  const auto added = read.rest();
  of.added.assign(added.begin(), added.end());
  return of;
}

}  // namespace lull::job
