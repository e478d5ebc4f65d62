#include "triangles/edge_file.hpp"

#include <fmt/format.h>
#include <shmem.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "irregular/input_file.hpp"

namespace triangles {
namespace {

using irregular::input_file;

// An error in the text, and its place in the file.
struct wrong_line {
  const char* at;
  std::string found;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view next_word(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  std::size_t length = 0;
  while (length < line.size() && !is_blank(line[length])) ++length;
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(length);
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_empty(std::string_view line) { return next_word(line).empty(); }

// The word in quotes, shortened for a message.
std::string in_quotes(std::string_view word) {
  return word.size() > 32 ? fmt::format("'{}...'", word.substr(0, 32)) : fmt::format("'{}'", word);
}

std::uint64_t whole_number(std::string_view& line, const char* what) {
  const std::string_view word = next_word(line);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty()) throw wrong_line{line.data(), fmt::format("{} is missing", what)};
  if (error != std::errc() || end != word.data() + word.size())
    throw wrong_line{word.data(), fmt::format("{} {} is not a whole number from 0 to 2^64 - 1", what, in_quotes(word))};
  return number;
}

void end_of(std::string_view line) {
  const std::string_view more = next_word(line);
  if (!more.empty()) throw wrong_line{more.data(), fmt::format("{} is one word too many", in_quotes(more))};
}

struct form {
  bool is_matrix = false;
  int values = 0;              // number of values after the two vertices of an edge
  std::uint64_t vertices = 0;  // from the header; for a list: the largest possible number
  std::uint64_t edges = 0;     // from the header
  std::string_view lines;      // with the edges
};

std::string lower(std::string_view word) {
  std::string result(word);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

form matrix_market(std::string_view text) {
  form found;
  found.is_matrix = true;
  std::string_view head = next_line(text);
  const char* const begin = head.data();
  std::array<std::string, 5> words;
  for (std::string& word : words) word = lower(next_word(head));
  const auto& [banner, object, layout, field, symmetry] = words;
  if (banner != "%%matrixmarket" || object != "matrix" || layout != "coordinate")
    throw wrong_line{begin, "it is not '%%MatrixMarket matrix coordinate ...'"};
  const std::array fields{"pattern", "real", "integer", "complex"};
  const auto* const known = std::ranges::find(fields, field);
  if (known == fields.end())
    throw wrong_line{begin,
                     fmt::format("the field {} is not one of pattern, real, integer, complex", in_quotes(field))};
  found.values = field == "pattern" ? 0 : field == "complex" ? 2 : 1;
  const std::array symmetries{"general", "symmetric", "skew-symmetric", "hermitian"};
  if (std::ranges::find(symmetries, symmetry) == symmetries.end())
    throw wrong_line{begin, fmt::format("the symmetry {} is not one of general, symmetric, skew-symmetric, hermitian",
                                        in_quotes(symmetry))};
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (line.starts_with('%') || is_empty(line)) continue;
    const char* const sizes = line.data();
    found.vertices = whole_number(line, "the number of rows");
    const std::uint64_t columns = whole_number(line, "the number of columns");
    found.edges = whole_number(line, "the number of entries");
    end_of(line);
    if (found.vertices != columns)
      throw wrong_line{sizes,
                       fmt::format("{} rows and {} columns: the matrix of a graph is square", found.vertices, columns)};
    if (found.vertices > most_vertices)
      throw wrong_line{sizes, fmt::format("{} vertices, more than 2^32 - 1", found.vertices)};
    found.lines = text;
    return found;
  }
  throw wrong_line{text.data(), "the line with the size of the matrix is missing"};
}

form form_of(const input_file& file) {
  const std::string kind = lower(file.path().extension().string());
  if (kind == ".mtx") return matrix_market(file.text());
  if (kind == ".txt" || kind == ".el")
    return {.is_matrix = false, .values = 0, .vertices = most_vertices, .edges = 0, .lines = file.text()};
  throw file.mistake("its name must end in .mtx (Matrix Market), or in .txt or .el (a list of edges)");
}

// The lines that begin in this PE's part of the bytes.
std::string_view share_of(std::string_view lines) {
  const auto me = static_cast<std::size_t>(shmem_my_pe()), pes = static_cast<std::size_t>(shmem_n_pes());
  const auto begin_of = [&](std::size_t part) -> std::size_t {
    const std::size_t at = lines.size() / pes * part + lines.size() % pes * part / pes;
    if (at == 0) return 0;
    return std::min(lines.find('\n', at - 1), lines.size() - 1) + 1;
  };
  if (lines.empty()) return lines;
  return lines.substr(begin_of(me), begin_of(me + 1) - begin_of(me));
}

edge edge_of(std::string_view line, const form& all) {
  const char* const begin = line.data();
  const std::uint64_t first = all.is_matrix ? 1 : 0;
  std::array<std::uint32_t, 2> ends{};
  for (std::uint32_t& end : ends) {
    const std::uint64_t number = whole_number(line, "a vertex");
    if (number < first || number - first >= all.vertices)
      throw wrong_line{begin, fmt::format("vertex {} is not in {} to {}", number, first, all.vertices - 1 + first)};
    end = static_cast<std::uint32_t>(number - first);
  }
  for (int i = 0; i < all.values; ++i)
    if (next_word(line).empty()) throw wrong_line{begin, "the value is missing"};
  end_of(line);
  return {ends[0], ends[1]};
}

}  // namespace

void edge_file::read(const std::function<void(const edge&)>& found) {
  try {
    file_.emplace(path_, "the graph");
    const form is = form_of(*file_);
    is_matrix_ = is.is_matrix;
    vertices_said_ = is.vertices;
    edges_said_ = is.edges;
    for (std::string_view mine = share_of(is.lines); !mine.empty();) {
      const std::string_view line = next_line(mine);
      if (line.starts_with(is.is_matrix ? '%' : '#') || is_empty(line)) continue;
      const edge one = edge_of(line, is);
      bound_ = std::max(bound_, std::max<std::uint64_t>(one.u, one.v) + 1);
      ++edges_;
      found(one);
    }
  } catch (const wrong_line& wrong) {
    const auto lines_before = std::count(file_->text().data(), wrong.at, '\n');
    mistake_ = file_->mistake(fmt::format("line {}: {}", lines_before + 1, wrong.found)).what();
  } catch (const std::runtime_error& unreadable) {
    mistake_ = unreadable.what();
  }
}

std::uint64_t edge_file::vertices(irregular::reduction& all) {
  all.agree(mistake_);
  const std::uint64_t edges = all.sum(edges_), bound = all.largest(bound_);
  if (is_matrix_ && edges != edges_said_)
    throw file_->mistake(fmt::format("its header announces {} entries, but it has {}", edges_said_, edges));
  const std::uint64_t vertices = is_matrix_ ? vertices_said_ : bound;
  if (vertices == 0) throw file_->mistake("it contains no vertex");
  return vertices;
}

}  // namespace triangles
