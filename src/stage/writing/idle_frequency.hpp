// Lowers the frequency of a server's core while there is nothing to write, if the site permits it and the server has a
// core to itself (wait/frequency.hpp). Otherwise it does nothing: servers sleep anyway.
#pragma once
#include <memory>

#include "wait/frequency.hpp"

namespace lull::stage {

class idle_frequency {
 public:
  idle_frequency();  // according to LULL_STAGE_LOWER_FREQUENCY; lowered from now on
  ~idle_frequency();
  idle_frequency(const idle_frequency&) = delete;
  idle_frequency& operator=(const idle_frequency&) = delete;

  // Raises the frequency for the duration of a write.
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
  std::unique_ptr<wait::core_frequency> core_;  // null: not possible
};

}  // namespace lull::stage
