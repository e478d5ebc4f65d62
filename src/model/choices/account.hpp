// The account of a choice: what each of its alternatives was predicted to cost, before and after correction, what it
// did cost, and how often it was taken. Choosers fill it from counters that they keep anyway, at the end of a run.
//
// A cost is in ns per operation. If the operations of a choice differ too much for one cost, each kind of them,
// `where`, has a separate account.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lull::model {

struct alternative_account {
  std::string name;
  std::optional<double> predicted_ns{};  // from the machine's constants alone; none: they do not determine it
  std::optional<double> corrected_ns{};  // corrected by measurements; none: unknown
  std::optional<double> observed_ns{};   // mean of the timed operations; none: none was timed
  std::uint64_t operations = 0;          // that took this alternative
  // The best known cost.
  [[nodiscard]] std::optional<double> cost_ns() const { return observed_ns ? observed_ns : corrected_ns; }
};

struct choice_account {
  std::string choice{};  // "coalesce"
  std::string where{};   // "up to 4 KiB"; empty: all operations
  std::string per{};     // an operation: "put"
  int processes = 1;
  std::uint64_t switches = 0;
  std::vector<alternative_account> alternatives{};
  double regret_ns = 0;  // for several processes, their sum
};

// Sets the regrets: summed over the alternatives, the number of operations times their extra cost compared to the
// cheapest alternative, as far as costs are known. Removes choices without operations.
void close(std::vector<choice_account>& accounts);

// Adds the accounts of another process: those of the same choice and kind are merged. Costs are averaged, weighted by
// the number of operations of each process.
void add(std::vector<choice_account>& all, std::span<const choice_account> of_another);

// Keeps the accounts of choosers that end before the process does. Thread-safe.
class account_book {
 public:
  void keep(std::span<const choice_account> accounts);
  [[nodiscard]] std::vector<choice_account> all() const;

 private:
  mutable std::mutex lock_;
  std::vector<choice_account> kept_;
};
[[nodiscard]] account_book& book_of_this_process();

// The form in the record of a run; python/lull/record/schema.py defines its fields. `wall_ns`: of the job.
[[nodiscard]] std::string in_json(std::span<const choice_account> accounts, std::int64_t wall_ns);
// For sending to another process of the same job.
[[nodiscard]] std::string as_text(std::span<const choice_account> accounts);
[[nodiscard]] std::vector<choice_account> from_text(const std::string& text);

// "up to 4 KiB": for sizes with this bit width, which are less than that.
[[nodiscard]] std::string up_to(unsigned width);

}  // namespace lull::model
