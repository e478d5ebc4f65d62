// A server's core, slower while there is nothing to write, where the site permits it and the server has a core to itself
// (wait/frequency.hpp). Elsewhere this does nothing: servers sleep anyway.
#pragma once
#include <memory>

#include "wait/frequency.hpp"

namespace lull::stage {

class idle_frequency {
 public:
  idle_frequency();  // as LULL_STAGE_LOWER_FREQUENCY says; lowered from now on
  ~idle_frequency();
  idle_frequency(const idle_frequency&) = delete;
  idle_frequency& operator=(const idle_frequency&) = delete;

  // For the length of a write.
  class at_full {
   public:
    explicit at_full(const idle_frequency& of) : core_(of.core_.get()) {
      if (core_) core_->work_begin();
    }
    ~at_full() {
      if (core_) core_->work_end();
    }
    at_full(const at_full&) = delete;
    at_full& operator=(const at_full&) = delete;

   private:
    wait::core_frequency* core_;
  };

 private:
  std::unique_ptr<wait::core_frequency> core_;  // null: it cannot be
};

}  // namespace lull::stage
