#include "irregular/indices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "irregular/input_file.hpp"

namespace irregular {
namespace {

struct array {
  std::span<const std::byte> data;
  std::size_t width;  // bytes per element
  bool is_signed;
};

constexpr std::string_view digits = "0123456789";

bool is_one_of(std::string_view allowed, char c) { return allowed.find(c) != allowed.npos; }

// The text after "'key':" in the header of a .npy file, a Python dict; empty if there is no such key.
std::string_view value_of(std::string_view key, std::string_view header) {
  const std::size_t at = header.find("'" + std::string(key) + "':");
  if (at == header.npos) return {};
  const std::string_view rest = header.substr(at + key.size() + 3);
  const std::size_t begin = rest.find_first_not_of(' ');
  return begin == rest.npos ? std::string_view{} : rest.substr(begin);
}

// The .npy format: magic, version, header length, a Python dict as text, the data (numpy.lib.format).
array parse_npy(const input_file& from) {
  const std::span<const std::byte> file = from.bytes();
  const std::string_view text = from.text();
  if (!text.starts_with("\x93NUMPY") || file.size() < 12) throw from.mistake("it is not a NumPy array");
  const bool version_1 = text[6] == 1;
  std::uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data() + 8, version_1 ? 2 : 4);
  const std::size_t header_begin = version_1 ? 10 : 12;
  if (header_begin + header_bytes > file.size()) throw from.mistake("its header is cut off");
  const std::string_view header = text.substr(header_begin, header_bytes);
  const std::string_view type = value_of("descr", header);  // such as '<u8'
  if (type.size() < 5 || type[0] != '\'' || type[4] != '\'' || !is_one_of("<|", type[1]) || !is_one_of("ui", type[2]) ||
      !is_one_of("1248", type[3]))
    throw from.mistake("its elements are not little-endian integers");
  array result{file.subspan(header_begin + header_bytes), static_cast<std::size_t>(type[3] - '0'), type[2] == 'i'};
  std::string_view shape = value_of("shape", header);  // such as (2, 3)
  if (!shape.starts_with('(') || shape.find(')') == shape.npos) throw from.mistake("it has no shape");
  shape = shape.substr(0, shape.find(')'));
  std::size_t elements = 1;
  for (std::size_t at = shape.find_first_of(digits); at != shape.npos; at = shape.find_first_of(digits, at)) {
    std::size_t size = 0;
    const char* const end = shape.data() + shape.size();
    const auto [rest, problem] = std::from_chars(shape.data() + at, end, size);
    if (problem != std::errc{} || (size != 0 && elements > result.data.size() / size))
      throw from.mistake("its data are cut off");
    elements *= size;
    at = static_cast<std::size_t>(rest - shape.data());
  }
  if (result.data.size() / result.width < elements) throw from.mistake("its data are cut off");
  result.data = result.data.first(elements * result.width);
  return result;
}

std::uint64_t element(const array& a, std::size_t i) {
  std::uint64_t value = 0;
  std::memcpy(&value, a.data.data() + i * a.width, a.width);
  return value;
}

}  // namespace

std::vector<std::uint64_t> uniform_indices(std::uint64_t seed, int pe, std::size_t count, std::uint64_t bound) {
  std::seed_seq sequence{seed, seed >> 32, static_cast<std::uint64_t>(pe)};
  std::mt19937_64 random(sequence);
  std::uniform_int_distribution<std::uint64_t> uniform(0, bound - 1);
  std::vector<std::uint64_t> indices(count);
  std::ranges::generate(indices, [&] { return uniform(random); });
  return indices;
}

file_share read_share(const std::filesystem::path& path, int pe, int pes) {
  const input_file file(path, "the indices");
  array all{file.bytes(), sizeof(std::uint64_t), false};
  if (path.extension() == ".npy")
    all = parse_npy(file);
  else if (all.data.size() % all.width != 0)
    throw file.mistake(
        fmt::format("{} bytes are not a whole number of uint64 (a NumPy array must be named *.npy)", all.data.size()));
  const std::size_t total = all.data.size() / all.width;
  if (total == 0) throw file.mistake("it contains no index");
  const std::uint64_t sign = all.is_signed ? std::uint64_t{1} << (8 * all.width - 1) : 0;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < total; ++i) {
    const std::uint64_t index = element(all, i);
    if (index & sign) throw file.mistake(fmt::format("index {} is negative", i));
    if (index == ~std::uint64_t{0}) throw file.mistake(fmt::format("index {} is 2^64 - 1, larger than any table", i));
    largest = std::max(largest, index);
  }
  const auto begin_of = [&](int part) {
    return total * static_cast<std::size_t>(part) / static_cast<std::size_t>(pes);
  };
  file_share share{{}, total, largest + 1};
  for (std::size_t i = begin_of(pe); i < begin_of(pe + 1); ++i) share.indices.push_back(element(all, i));
  return share;
}

}  // namespace irregular
