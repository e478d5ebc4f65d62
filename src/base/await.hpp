// Waits for a condition without std::condition_variable::wait, which has had a new version since GCC 12: programs that
// call it do not start on machines with the libstdc++ of GCC 11, such as RHEL 9, for which the wheel is made.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace lull {

// As condition.wait(lock, come).
template <class Predicate>
void await(std::condition_variable& condition, std::unique_lock<std::mutex>& lock, Predicate come) {
  while (!condition.wait_for(lock, std::chrono::hours(1), come)) continue;
}

// As condition.wait(lock, stop, come): returns come().
template <class Lock, class Predicate>
bool await(std::condition_variable_any& condition, Lock& lock, const std::stop_token& stop, Predicate come) {
  while (!condition.wait_for(lock, stop, std::chrono::hours(1), come))
    if (stop.stop_requested()) return come();
  return true;
}

}  // namespace lull
