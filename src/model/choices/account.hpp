// What a choice came to: what each of its alternatives was predicted to cost, before and after correction, what it did cost,
// and how often it was taken. Choosers make these of counters that they have anyway, when they are asked at the end of a run.
//
// A cost is in ns per operation. Where the operations of a choice are too unlike for one cost, each kind of them, `where`, has
// an account of its own.
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
  std::optional<double> predicted_ns{};  // by the machine's constants alone; nothing: they do not say
  std::optional<double> corrected_ns{};  // by what was measured; nothing: nobody knows
  std::optional<double> observed_ns{};   // the mean of what was timed; nothing: it never was
  std::uint64_t operations = 0;          // that took it
  // The best that is known of it.
  [[nodiscard]] std::optional<double> cost_ns() const { return observed_ns ? observed_ns : corrected_ns; }
};

struct choice_account {
  std::string choice{};  // "coalesce"
  std::string where{};   // "up to 4 KiB"; empty: all operations
  std::string per{};     // what an operation is: "put"
  int processes = 1;
  std::uint64_t switches = 0;
  std::vector<alternative_account> alternatives{};
  double regret_ns = 0;  // of several processes the sum
};

// Sets the regrets: over the alternatives, operations times what one cost more than it would have by the best of all, as far as
// costs are known. Choices that had no operation are left out.
void close(std::vector<choice_account>& accounts);

// The accounts of one process after those of others: those of the same choice and kind become one. Costs are means, each
// process with the weight of its operations.
void add(std::vector<choice_account>& all, std::span<const choice_account> of_another);

// What choosers of this process leave that end before it does. May be used by several threads at once.
class account_book {
 public:
  void keep(std::span<const choice_account> accounts);
  [[nodiscard]] std::vector<choice_account> all() const;

 private:
  mutable std::mutex lock_;
  std::vector<choice_account> kept_;
};
[[nodiscard]] account_book& book_of_this_process();

// What the record of a run keeps, python/lull/record/schema.py says what its fields are. `wall_ns`: of the job.
[[nodiscard]] std::string in_json(std::span<const choice_account> accounts, std::int64_t wall_ns);
// For another process of the same job.
[[nodiscard]] std::string as_text(std::span<const choice_account> accounts);
[[nodiscard]] std::vector<choice_account> from_text(const std::string& text);

// "up to 4 KiB": of sizes of this width in bits, which are less than that.
[[nodiscard]] std::string up_to(unsigned width);

}  // namespace lull::model
