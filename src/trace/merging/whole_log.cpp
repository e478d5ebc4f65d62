#include "trace/merging/whole_log.hpp"

#include "trace/folding/folder.hpp"

namespace lull::trace::merging {
namespace {

constexpr std::size_t records_at_once = 2048;  // as recorder.cpp does it

}  // namespace

whole_log::whole_log(const raw_log& log, bool has_several) : log_(std::make_unique<log_records>(log)) {
  if (log_->whole_folded() != nullptr) {
    found_ = *log_->whole_folded();
    return;
  }
  fold(*log_, has_several);
  is_damaged_ = log_->is_damaged();
  log_.reset();
}

folding::bytes whole_log::structure() const {
  folding::bytes all;
  for (const auto piece : found_.structure) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

void whole_log::fold(log_records& from, bool has_several) {
  folding::folder folder;
  if (has_several) folder.name_by_handles();
  std::vector<record> window;
  const auto fold_window = [&](bool is_last) {
    const auto taken = static_cast<std::ptrdiff_t>(folder.fold(window, is_last));
    window.erase(window.begin(), window.begin() + taken);
    structure_.insert(structure_.end(), folder.structure().begin(), folder.structure().end());
    times_.insert(times_.end(), folder.times().begin(), folder.times().end());
    for (const auto& [life, handle] : folder.take_given_up()) found_.given_up[life] = handle;
    folder.clear_output();
  };
  for (auto call = from.next_call(); !call.empty(); call = from.next_call()) {
    window.insert(window.end(), call.begin(), call.end());
    if (window.size() >= records_at_once) fold_window(false);
  }
  fold_window(true);
  found_.structure = {structure_};
  found_.times = {times_};
  found_.records = folder.records();
}

}  // namespace lull::trace::merging
