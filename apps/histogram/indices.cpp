#include "indices.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <regex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace histogram {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& found) {
  throw std::runtime_error(fmt::format("read the indices in {}: {}", path.string(), found));
}

class mapped_file {
 public:
  explicit mapped_file(const std::filesystem::path& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) refuse(path, std::generic_category().message(errno));
    struct stat about {};
    fstat(fd, &about);
    const bool regular = S_ISREG(about.st_mode);
    size_ = static_cast<std::size_t>(about.st_size);
    void* const where = regular && size_ > 0 ? mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    const int code = errno;
    close(fd);
    if (!regular) refuse(path, "it is not a regular file");
    if (size_ == 0) refuse(path, "it is empty");
    if (where == MAP_FAILED) refuse(path, std::generic_category().message(code));
    data_ = static_cast<const std::byte*>(where);
  }
  ~mapped_file() { munmap(const_cast<std::byte*>(data_), size_); }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

struct array {
  std::span<const std::byte> data;
  std::size_t width;  // bytes per element
  bool is_signed;
};

// The .npy format: magic, version, header length, a Python dict as text, the data (numpy.lib.format).
array parse_npy(const std::filesystem::path& path, std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with("\x93NUMPY") || file.size() < 12) refuse(path, "it is not a NumPy array");
  const bool version_1 = text[6] == 1;
  std::uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data() + 8, version_1 ? 2 : 4);
  const std::size_t header_begin = version_1 ? 10 : 12;
  if (header_begin + header_bytes > file.size()) refuse(path, "its header is cut off");
  const std::string header(text.substr(header_begin, header_bytes));
  std::smatch type;
  if (!std::regex_search(header, type, std::regex(R"('descr':\s*'[<|]([ui])([1248])')")))
    refuse(path, "its elements are not little-endian integers");
  array result{file.subspan(header_begin + header_bytes), static_cast<std::size_t>(type[2].str()[0] - '0'),
               type[1] == "i"};
  std::smatch shape;
  if (!std::regex_search(header, shape, std::regex(R"('shape':\s*\(([^)]*)\))"))) refuse(path, "it has no shape");
  std::size_t elements = 1;
  const std::string dimensions = shape[1];
  const std::regex number(R"(\d+)");
  for (auto it = std::sregex_iterator(dimensions.begin(), dimensions.end(), number); it != std::sregex_iterator(); ++it)
    elements *= std::stoull(it->str());
  if (result.data.size() / result.width < elements) refuse(path, "its data are cut off");
  result.data = result.data.first(elements * result.width);
  return result;
}

std::uint64_t element(const array& a, std::size_t i) {
  std::uint64_t value = 0;
  std::memcpy(&value, a.data.data() + i * a.width, a.width);
  return value;
}

}  // namespace

std::vector<std::uint64_t> uniform_indices(std::uint64_t seed, int pe, std::size_t count, std::uint64_t bins) {
  std::seed_seq sequence{seed, seed >> 32, static_cast<std::uint64_t>(pe)};
  std::mt19937_64 random(sequence);
  std::uniform_int_distribution<std::uint64_t> uniform(0, bins - 1);
  std::vector<std::uint64_t> indices(count);
  std::ranges::generate(indices, [&] { return uniform(random); });
  return indices;
}

file_share read_share(const std::filesystem::path& path, int pe, int pes) {
  const mapped_file file(path);
  array all{file.bytes(), sizeof(std::uint64_t), false};
  if (path.extension() == ".npy")
    all = parse_npy(path, file.bytes());
  else if (all.data.size() % all.width != 0)
    refuse(path, fmt::format("{} bytes are not a whole number of uint64 (a NumPy array must be named *.npy)",
                             all.data.size()));
  const std::size_t total = all.data.size() / all.width;
  if (total == 0) refuse(path, "it holds no index");
  const std::uint64_t sign = all.is_signed ? std::uint64_t{1} << (8 * all.width - 1) : 0;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < total; ++i) {
    const std::uint64_t index = element(all, i);
    if (index & sign) refuse(path, fmt::format("index {} is negative", i));
    largest = std::max(largest, index);
  }
  const auto bound = [&](int part) { return total * static_cast<std::size_t>(part) / static_cast<std::size_t>(pes); };
  file_share share{{}, total, largest + 1};
  for (std::size_t i = bound(pe); i < bound(pe + 1); ++i) share.indices.push_back(element(all, i));
  return share;
}

}  // namespace histogram
