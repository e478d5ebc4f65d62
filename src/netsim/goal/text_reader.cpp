#include "netsim/goal/text_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/error.hpp"
#include "netsim/goal/lexer.hpp"
#include "netsim/goal/limits.hpp"
#include "netsim/keys/key.hpp"

namespace lull::netsim {
namespace {

using token = goal_token::kind;

const std::vector<std::string> statements{"send", "recv", "calc"};
const std::vector<std::string> attributes{"tag", "cpu", "nic"};

class goal_text {
 public:
  explicit goal_text(const std::string& path) : from_(path) { from_.next(); }

  std::uint32_t ranks() {
    skip_lines();
    if (!is_word("num_ranks")) from_.mistake(fmt::format("it begins with {}", found()), "begin with num_ranks N");
    from_.next();
    const auto count = static_cast<std::uint32_t>(number("the number of ranks", goal_limits::ranks));
    if (count == 0) from_.mistake("num_ranks is 0", "there must be a rank");
    return count;
  }

  goal_graph read(const std::string& path, const goal_progress& progress) {
    goal_graph all{.path = path, .ranks = {}};
    all.ranks.resize(ranks());
    std::vector<std::uint32_t> begun(all.ranks.size());  // lines
    ranks_ = static_cast<std::uint32_t>(all.ranks.size());
    for (skip_lines(); from_.current().is != token::file_end; skip_lines()) {
      if (!is_word("rank")) from_.mistake(fmt::format("{} is not a rank", found()), "write rank N {");
      const std::uint32_t line = from_.line();
      from_.next();
      const auto rank = static_cast<std::uint32_t>(number("a rank", goal_limits::ranks));
      if (rank >= ranks_) from_.mistake(fmt::format("there is no rank {}", rank), of_ranks());
      if (begun[rank] != 0)
        from_.mistake(fmt::format("rank {} begins again", rank), fmt::format("line {} has it", begun[rank]));
      begun[rank] = line;
      expect_mark('{', "after rank N");
      all.ranks[rank] = operations(rank, line, progress);
      check_cycles(all, rank);
    }
    all.several_nics = several_nics_;
    return all;
  }

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  [[nodiscard]] std::string found() const {
    switch (from_.current().is) {
      case token::line_end:
        return "the end of the line";
      case token::file_end:
        return "the end of the file";
      default:
        return fmt::format("'{}'", from_.current().text);
    }
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return from_.current().is == token::word && from_.current().text == word;
  }
  [[nodiscard]] bool is_mark(char mark) const {
    return from_.current().is == token::mark && from_.current().text.front() == mark;
  }
  [[nodiscard]] std::string of_ranks() const { return fmt::format("ranks are 0 to {}", ranks_ - 1); }
  void skip_lines() {
    while (from_.current().is == token::line_end) from_.next();
  }
  void expect_mark(char mark, const char* where) {
    if (!is_mark(mark)) from_.mistake(fmt::format("{} is not '{}'", found(), mark), fmt::format("write it {}", where));
    from_.next();
  }
  void expect_word(const char* word, const char* where) {
    if (!is_word(word)) from_.mistake(fmt::format("{} is not '{}'", found(), word), fmt::format("write {}", where));
    from_.next();
  }

  // A number of at most `most`; `any` for -1 if that is allowed.
  std::uint64_t number(const char* what, std::uint64_t most, bool may_be_any = false) {
    const std::string& text = from_.current().text;
    if (may_be_any && text == "-1") {
      from_.next();
      return any;
    }
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (from_.current().is != token::number || (problem != std::errc{} && problem != std::errc::result_out_of_range))
      from_.mistake(fmt::format("{} is not {}", found(), what),
                    may_be_any ? "write a whole number, or -1 for any" : "write a whole number");
    if (problem == std::errc::result_out_of_range || value > most)
      from_.mistake(fmt::format("{} as {} is too large", text, what), fmt::format("at most {}", most));
    from_.next();
    return value;
  }

  goal_rank operations(std::uint32_t rank, std::uint32_t first_line, const goal_progress& progress) {
    labels_.clear();
    for (skip_lines(); !is_mark('}'); skip_lines()) {
      if (from_.current().is == token::file_end)
        from_.mistake(fmt::format("rank {} does not end", rank),
                      fmt::format("line {} begins it; end it with }}", first_line));
      statement();
      if (progress && built_.count() % 65536 == 1 && !progress(from_.bytes_read(), from_.size()))
        from_.mistake("stopped", "");
    }
    from_.next();
    return built_.finish();
  }

  void statement() {
    if (from_.current().is != token::word)
      from_.mistake(fmt::format("{} begins no statement", found()), "write a label, send, recv, calc or }");
    if (is_operation()) {
      operation();
    } else {
      label_ = from_.current().text;
      from_.next();
      if (is_mark(':')) {
        if (const auto known = labels_.find(label_); known != labels_.end())
          from_.mistake(fmt::format("the label {} is defined twice", label_), "labels of a rank must differ");
        from_.next();
        if (!is_operation()) from_.mistake(fmt::format("{} is no operation", found()), hint(statements));
        labels_.emplace(label_, operation());
      } else if (is_word("requires") || is_word("irequires")) {
        dependency(is_word("requires") ? goal_edge::when::ended : goal_edge::when::begun);
      } else {
        const std::string next = found();
        from_.mistake(fmt::format("{} follows the word {}", next, label_),
                      fmt::format("write send, recv, calc, '{0}: OPERATION' or '{0} requires LABEL'", label_));
      }
    }
    if (from_.current().is != token::line_end && from_.current().is != token::file_end && !is_mark('}'))
      from_.mistake(fmt::format("{} follows the statement", found()), "begin a new line");
  }

  [[nodiscard]] bool is_operation() const { return is_word("send") || is_word("recv") || is_word("calc"); }
  [[nodiscard]] std::string hint(const std::vector<std::string>& words) const {
    return from_.current().is == token::word ? nearest(from_.current().text, words)
                                             : fmt::format("write {}", fmt::join(words, ", "));
  }

  std::uint32_t operation() {
    goal_operation o{.line = from_.line(),
                     .what = is_word("send")   ? goal_kind::send
                             : is_word("recv") ? goal_kind::receive
                                               : goal_kind::calc};
    from_.next();
    if (built_.count() == goal_edge::most_operations)
      from_.mistake("a rank has too many operations", fmt::format("at most {}", goal_edge::most_operations));
    if (o.what == goal_kind::calc) {
      o.size = number("a time in ns", goal_limits::nanoseconds);
    } else {
      const bool receives = o.what == goal_kind::receive;
      o.size = number("a number of bytes", goal_limits::bytes);
      expect_word("b", receives ? "recv Nb from RANK" : "send Nb to RANK");
      expect_word(receives ? "from" : "to", receives ? "recv Nb from RANK" : "send Nb to RANK");
      o.peer = static_cast<std::uint32_t>(number("a rank", goal_limits::tag, receives));
      if (o.peer >= ranks_ && !(receives && o.peer == any))
        from_.mistake(fmt::format("there is no rank {}", o.peer), of_ranks());
    }
    while (from_.current().is == token::word) attribute(o);
    return built_.add(o);
  }

  void attribute(goal_operation& o) {
    const std::string name = from_.current().text;
    if (name == "tag" && o.what != goal_kind::calc) {
      from_.next();
      o.tag = static_cast<std::uint32_t>(number("a tag", goal_limits::tag, o.what == goal_kind::receive));
    } else if (name == "cpu") {
      from_.next();
      o.cpu = static_cast<std::uint8_t>(number("a cpu", goal_limits::cpu));
    } else if (name == "nic") {
      from_.next();
      several_nics_ |= number("a nic", goal_limits::cpu) > 0;
    } else {
      from_.mistake(fmt::format("{} is not part of {}", name,
                                o.what == goal_kind::calc   ? "a calc"
                                : o.what == goal_kind::send ? "a send"
                                                            : "a recv"),
                    hint(attributes));
    }
  }

  std::uint32_t known(std::string_view label) {
    const auto found = labels_.find(label);
    if (found == labels_.end())
      from_.mistake(fmt::format("the label {} is not defined so far", label),
                    fmt::format("write '{}: OPERATION' above, in the same rank", label));
    return found->second;
  }

  void dependency(goal_edge::when after) {
    const std::uint32_t later = known(label_);
    from_.next();
    if (from_.current().is != token::word)
      from_.mistake(fmt::format("{} is not a label", found()), "name an operation");
    const std::uint32_t earlier = known(from_.current().text);
    if (earlier == later) from_.mistake(fmt::format("{} requires itself", label_), "remove the line");
    built_.depend(later, earlier, after);
    from_.next();
  }

  goal_lexer from_;
  goal_rank_builder built_;
  std::unordered_map<std::string, std::uint32_t, hash, std::equal_to<>> labels_;  // of the rank
  std::string label_;                                                             // at the begin of the statement
  std::uint32_t ranks_ = 0;
  bool several_nics_ = false;
};

}  // namespace

goal_graph read_goal_text(const std::string& path, const goal_progress& progress) {
  return goal_text(path).read(path, progress);
}

std::uint32_t ranks_of_goal_text(const std::string& path) { return goal_text(path).ranks(); }

bool is_goal_text(const std::string& path) {
  try {
    goal_lexer from(path);
    while (from.next().is == token::line_end) {
    }
    return from.current().text == "num_ranks" && from.next().is == token::number;
  } catch (const error&) {
    return false;
  }
}

}  // namespace lull::netsim
