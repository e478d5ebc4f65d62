#include "trace/merging/structure_parts.hpp"

#include "trace/folding/history.hpp"
#include "trace/folding/signature_table.hpp"

namespace lull::trace::merging {
namespace {

using namespace lull::trace::folding;

// Tokens of the folder, and those of the shape.
enum token : unsigned { by_number, other_values, a_turn, as_they_are };
enum whats : unsigned {
  known,              // number of the signature
  defined,            // definition of the next signature; parameters: its values, then those of the fields that vary
  foreseen_values,    // count; parameters: as many values
  turn,               // nothing
  plain_records,      // count; plain: as many records
  known_with_values,  // number, count; parameters: as many values
  turn_with_values,   // count; parameters: as many values
};

scope scope_of(const part& p) {
  switch (p.what) {
    case kind::put:
    case kind::get:
    case kind::atomic:
    case kind::completed_at_target:
    case kind::locked:
    case kind::unlocked:
    case kind::window_collective:
      return {scope::kind::window, p.comm};
    case kind::call:
    case kind::region_enter:
    case kind::region_leave:
    case kind::more_received:
    case kind::longer:
      return {};
    default:
      return {scope::kind::communicator, p.comm};
  }
}

// The fields of a definition whose values follow it.
unsigned given_fields(const part& p) { return can_vary(p) & ~unsigned{p.varying}; }

std::size_t varying_fields(const part& p) { return static_cast<std::size_t>(std::popcount(unsigned{p.varying})); }

// Both directions read a definition; what is read is written to `to`, except for the values, which `value` moves.
template <typename Value>
bool move_definition(byte_reader& from, bytes& to, signature& s, const Value& value) {
  const auto byte = [&] {
    const std::uint8_t b = from.byte();
    to.push_back(b);
    return b;
  };
  const auto number = [&] {
    const std::uint64_t n = from.number();
    put_number(to, n);
    return n;
  };
  s.count = byte();
  if (s.count < 1 || s.count > 2) return false;
  for (std::size_t i = 0; i < s.count; ++i) {
    part& p = s.parts[i];
    p.what = static_cast<kind>(byte());
    const unsigned named = byte();
    p.named = static_cast<naming>(named & 0xfU);
    p.as_posted = static_cast<std::uint8_t>(named >> 4);
    p.varying = byte();
    p.region = static_cast<std::uint16_t>(number());
    p.comm = static_cast<std::uint16_t>(number());
    if (from.failed()) return false;
    const unsigned given = given_fields(p);
    for (std::size_t f = 0; f < fields; ++f)
      if ((given & 1U << f) != 0 && !value(scope_of(p))) return false;
  }
  return true;
}

class splitter {
 public:
  splitter(const std::vector<std::span<const std::uint8_t>>& structure, std::uint64_t records)
      : from_(structure), left_(records) {}

  std::optional<structure_parts> run() {
    while (!from_.at_end())
      if (!move_token() || from_.failed()) return {};
    return std::move(made_);
  }

 private:
  bool move_token() {
    const std::uint64_t read = from_.number();
    const std::uint64_t count = read >> 2;
    const auto what = static_cast<token>(read & 3);
    if (!follow(count)) return false;
    if (what == as_they_are) return move_plain(count);
    if (what == by_number) return move_number(count);
    const std::uint32_t id = what == a_turn ? history_.turn() : history_.foreseen();
    if (id >= values_of_.size() || left_-- == 0) return false;
    if (what == a_turn)
      history_.take_turn();
    else
      history_.follow();
    const std::size_t values = values_of_[id];
    if (what == other_values) {
      put_token(count, foreseen_values);
      put_number(made_.shape, values);
    } else if (values > 0) {
      put_token(count, turn_with_values);
      put_number(made_.shape, values);
    } else {
      put_token(count, turn);
    }
    return move_values(values);
  }
  // Units that came as foreseen.
  bool follow(std::uint64_t count) {
    if (count > left_) return false;
    left_ -= count;
    for (; count > 0; --count) {
      if (history_.foreseen() >= values_of_.size()) return false;
      history_.follow();
    }
    return true;
  }
  bool move_number(std::uint64_t count) {
    const std::uint64_t number = from_.number();
    if (number > values_of_.size() || left_-- == 0) return false;
    const bool is_new = number == values_of_.size();
    history_.add(static_cast<std::uint32_t>(number), is_new);
    if (is_new) {
      put_token(count, defined);
      signature s;
      if (!move_definition(from_, made_.shape, s, [this](scope ranks) { return move_parameter(ranks); })) return false;
      values_of_.push_back(varying_fields(s.parts[0]) + varying_fields(s.parts[1]));
    } else {
      put_token(count, values_of_[number] > 0 ? known_with_values : known);
      put_number(made_.shape, number);
      if (values_of_[number] > 0) put_number(made_.shape, values_of_[number]);
    }
    return move_values(values_of_[number]);
  }
  bool move_plain(std::uint64_t count) {
    const std::uint64_t records = from_.number();
    put_token(count, plain_records);
    put_number(made_.shape, records);
    history_.cut();
    if (records == 0) {
      values_of_.clear();
      history_ = history();
    }
    if (records > left_) return false;
    left_ -= records;
    for (std::uint64_t i = 0; i < records && !from_.failed(); ++i) {
      std::array<std::uint8_t, sizeof(record)> raw;
      from_.copy(raw.data(), raw.size());
      made_.plain.insert(made_.plain.end(), raw.begin(), raw.end());
    }
    return true;
  }
  bool move_values(std::size_t count) {
    for (; count > 0; --count)
      if (!move_parameter({})) return false;
    return true;
  }
  bool move_parameter(scope ranks) {
    made_.parameters.push_back({unzigzag(from_.number()), ranks});
    return !from_.failed();
  }
  void put_token(std::uint64_t count, whats what) { put_number(made_.shape, count << 3 | what); }

  byte_reader from_;
  std::uint64_t left_;  // units, of which each is one record at least
  history history_;
  std::vector<std::size_t> values_of_;  // number of fields that vary, by signature
  structure_parts made_;
};

class joiner {
 public:
  joiner(std::span<const std::uint8_t> shape, parameter_source& parameters, std::span<const std::uint8_t> plain)
      : from_({shape}), parameters_(parameters), plain_(plain) {}

  std::optional<bytes> run() {
    while (!from_.at_end())
      if (!move_token() || from_.failed()) return {};
    return std::move(made_);
  }

 private:
  bool move_token() {
    const std::uint64_t read = from_.number();
    const std::uint64_t count = read >> 3;
    switch (static_cast<whats>(read & 7)) {
      case known:
        put_token(count, by_number);
        put_number(made_, from_.number());
        return true;
      case defined:
        return move_new(count);
      case foreseen_values:
        put_token(count, other_values);
        return move_values(from_.number());
      case turn:
        put_token(count, a_turn);
        return true;
      case plain_records:
        return move_plain(count);
      case known_with_values:
        put_token(count, by_number);
        put_number(made_, from_.number());
        return move_values(from_.number());
      case turn_with_values:
        put_token(count, a_turn);
        return move_values(from_.number());
    }
    return false;
  }
  bool move_new(std::uint64_t count) {
    put_token(count, by_number);
    put_number(made_, defined_++);
    signature s;
    return move_definition(from_, made_, s, [this](scope ranks) { return move_parameter(ranks); }) &&
           move_values(varying_fields(s.parts[0]) + varying_fields(s.parts[1]));
  }
  bool move_plain(std::uint64_t count) {
    const std::uint64_t records = from_.number();
    if (records > plain_.size() / sizeof(record)) return false;
    if (records == 0) defined_ = 0;
    put_token(count, as_they_are);
    put_number(made_, records);
    const auto raw = plain_.first(records * sizeof(record));
    made_.insert(made_.end(), raw.begin(), raw.end());
    plain_ = plain_.subspan(raw.size());
    return true;
  }
  bool move_values(std::uint64_t count) {
    if (count > 2 * fields) return false;
    for (; count > 0; --count)
      if (!move_parameter({})) return false;
    return true;
  }
  bool move_parameter(scope ranks) {
    const std::optional<std::uint64_t> value = parameters_.next(ranks);
    if (value) put_number(made_, zigzag(*value));
    return value.has_value();
  }
  void put_token(std::uint64_t count, token what) { put_number(made_, count << 2 | what); }

  byte_reader from_;
  parameter_source& parameters_;
  std::span<const std::uint8_t> plain_;
  std::uint64_t defined_ = 0;
  bytes made_;
};

}  // namespace

std::optional<structure_parts> split(const std::vector<std::span<const std::uint8_t>>& structure,
                                     std::uint64_t records) {
  return splitter(structure, records).run();
}

std::optional<bytes> join(std::span<const std::uint8_t> shape, parameter_source& parameters,
                          std::span<const std::uint8_t> plain) {
  return joiner(shape, parameters, plain).run();
}

}  // namespace lull::trace::merging
