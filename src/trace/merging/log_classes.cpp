#include "trace/merging/log_classes.hpp"

#include <utility>

namespace lull::trace::merging {

using folding::byte_reader;
using folding::unzigzag;

// The parameters of one log, by the laws of its class.
class law_source : public parameter_source {
 public:
  law_source(const log_class& of, std::size_t member, const places& where)
      : of_(of), member_(member), where_(where), grouped_(of.of_group_.empty() ? nullptr : group_of(member)) {}

  std::optional<std::uint64_t> next(scope ranks) override {
    if (at_ == of_.entries_.size()) return {};
    const log_class::entry& e = of_.entries_[at_++];
    if (e.what != log_class::rule::grouped) return value(e, ranks);
    if (grouped_ == nullptr || at_grouped_ == grouped_->size()) return {};
    return value((*grouped_)[at_grouped_++], ranks);
  }

 private:
  const std::vector<log_class::entry>* group_of(std::size_t member) const {
    const std::uint64_t group = of_.group_of_.at(member);
    return group < of_.of_group_.size() ? &of_.of_group_[group] : nullptr;
  }
  [[nodiscard]] std::optional<std::uint64_t> value(const log_class::entry& e, scope ranks) const {
    switch (e.what) {
      case log_class::rule::constant:
        return e.value;
      case log_class::rule::law:
        return of_.laws_[e.value].at(where_(ranks));
      case log_class::rule::table:
        return of_.tables_[e.value].at(member_);
      case log_class::rule::grouped:
        break;
    }
    return {};
  }

  const log_class& of_;
  std::size_t member_;
  const places& where_;
  const std::vector<log_class::entry>* grouped_;
  std::size_t at_ = 0, at_grouped_ = 0;
};

std::optional<log_class> log_class::read(std::span<const std::uint8_t> content, std::uint64_t logs) {
  byte_reader from({content});
  log_class made;
  const std::uint64_t form = from.number();
  made.is_merged_ = form == 1;
  made.records_ = from.number();
  const std::uint64_t count = from.number();
  if (form > 1 || count == 0 || count > logs || (form == 0 && count != 1)) return {};
  const auto differences = runs::read(from, count);
  if (!differences) return {};
  std::uint64_t number = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t difference = differences->at(i);
    if (difference >= logs || (i > 0 && difference == 0)) return {};
    number += difference;
    if (number >= logs) return {};
    made.logs_.push_back(number);
  }
  if (made.is_merged_) return made.read_merged(from) ? std::optional(std::move(made)) : std::nullopt;
  const auto rest = from.rest();
  made.shape_.assign(rest.begin(), rest.end());
  return made;
}

bool log_class::read_merged(byte_reader& from) {
  const std::uint64_t length = from.number();
  if (length > from.left()) return false;
  shape_.resize(length);
  from.copy(shape_.data(), length);
  if (!read_plain(from)) return false;
  const std::uint64_t parameters = from.number();
  groups_ = from.number();
  if (from.failed() || parameters > from.left() || groups_ == 0 || groups_ > logs_.size()) return false;
  if (groups_ > 1) {
    auto group_of = runs::read(from, logs_.size());
    if (!group_of) return false;
    group_of_ = std::move(*group_of);
  }
  if (!read_entries(from, parameters, entries_)) return false;
  std::uint64_t grouped = 0;
  for (const entry& e : entries_) grouped += e.what == rule::grouped ? 1 : 0;
  if (groups_ > 1)
    for (std::uint64_t group = 0; group < groups_; ++group)
      if (!read_entries(from, grouped, of_group_.emplace_back())) return false;
  return from.at_end() && !from.failed();
}

bool log_class::read_plain(byte_reader& from) {
  const std::uint64_t different = from.number();
  if (different > from.left()) return false;
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < different; ++i) lengths.push_back(from.number());
  auto plain_of = runs::read(from, logs_.size());
  if (!plain_of) return false;
  plain_of_ = std::move(*plain_of);
  for (const std::uint64_t bytes_of_one : lengths) {
    if (bytes_of_one > from.left()) return false;
    from.copy(plain_.emplace_back(bytes_of_one).data(), bytes_of_one);
  }
  return !from.failed();
}

bool log_class::read_entries(byte_reader& from, std::uint64_t count, std::vector<entry>& to) {
  for (; count > 0; --count) {
    const std::uint64_t read = from.number(), n = read >> 2;
    if (from.failed()) return false;
    switch (read & 3) {
      case 0:
        to.push_back({rule::constant, unzigzag(n)});
        break;
      case 1:
        if (n >= laws_.size()) return false;
        to.push_back({rule::law, n});
        break;
      case 2: {
        const auto law = read_law(from);
        if (!law) return false;
        to.push_back({rule::law, laws_.size()});
        laws_.push_back(*law);
        break;
      }
      default:
        if (n == 1) {
          to.push_back({rule::grouped, 0});
        } else if (n == 0) {
          auto table = runs::read(from, logs_.size());
          if (!table) return false;
          to.push_back({rule::table, tables_.size()});
          tables_.push_back(std::move(*table));
        } else {
          if (n - 2 >= tables_.size()) return false;
          to.push_back({rule::table, n - 2});
        }
    }
  }
  return true;
}

std::span<const std::uint8_t> log_class::plain_of(std::size_t member) const {
  const std::uint64_t number = plain_of_.at(member);
  return number < plain_.size() ? std::span<const std::uint8_t>(plain_[number]) : std::span<const std::uint8_t>();
}

std::optional<bytes> log_class::structure_of(std::size_t member, const places& where) const {
  if (!is_merged_) return shape_;
  law_source parameters(*this, member, where);
  return join(shape_, parameters, plain_of(member));
}

}  // namespace lull::trace::merging
