// An exchange in which the failure of one process is the failure of all, so that none waits for it.
//
//   agreed_exchange agreed(all);
//   if (agreed.together([&](exchange& others) { … others.all(…) … })) …    on all processes
//
// A process that throws before the last of its calls makes one more, in which it reports why, while the others make
// their next one: these throw, too, and together() is false on all of them. The first process that has failed, by rank,
// prints the line. So a part that may fail alone, and for which others wait by other means than all(), needs a call of
// all() before they wait. After the last call, which one_more() announces, each process is on its own.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "stage/link/exchange.hpp"

namespace lull::stage {

// Another process has failed. What catches errors between calls must pass it on. No std::exception: it is no error of
// this process.
struct joint_failure {};

class agreed_exchange final : public exchange {
 public:
  // `consequence`: the end of the line, e.g. "the program writes its output itself".
  explicit agreed_exchange(exchange& all, std::string consequence) : all_(all), consequence_(std::move(consequence)) {}

  [[nodiscard]] int rank() const override { return all_.rank(); }
  [[nodiscard]] int size() const override { return all_.size(); }
  [[nodiscard]] std::string node() const override { return all_.node(); }
  // Throws joint_failure.
  [[nodiscard]] std::vector<std::vector<std::byte>> all(std::span<const std::byte> mine) override;
  void one_more() override;

  // False: a process has failed. Exceptions after the last call leave it.
  [[nodiscard]] bool together(const std::function<void(exchange&)>& work);
  // For a process that has ended: the call that the others wait for.
  void give_up(const std::string& why);
  // Whether these messages, of any exchange of this kind, contain a failure.
  [[nodiscard]] static bool has_failure(std::span<const std::vector<std::byte>> messages);

 private:
  std::vector<std::vector<std::byte>> call(std::byte state, std::span<const std::byte> mine);

  exchange& all_;
  std::string consequence_;
  bool is_last_ = false, is_over_ = false;
};

}  // namespace lull::stage
