// Several threads of each PE at once, each with sequences, contexts, memory and a team of its own.
#pragma once
#include <memory>
#include <thread>

#include "fuzz/sequences.hpp"

namespace fuzz {

class threads {
 public:
  explicit threads(situation& s) : s_(s) {
    for (int i = 0; i < most; ++i) {
      memory_.push_back(std::make_unique<parts>(s));
      shmem_team_t team = SHMEM_TEAM_INVALID;
      CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, s.r.pes, nullptr, 0, &team) == 0);
      teams_.push_back(team);
    }
  }
  threads(const threads&) = delete;
  threads& operator=(const threads&) = delete;
  ~threads() {
    for (const shmem_team_t team : teams_) shmem_team_destroy(team);
    while (!memory_.empty()) memory_.pop_back();
  }

  void phase(dice& d) {
    s_.subject = "threads";
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < most; ++i)
      running.emplace_back([this, i, seed = d.next(), phases = 1 + d.below(2)] {
        situation mine = s_;
        dice own(seed);
        sequences all(mine, *memory_[i], teams_[i]);
        for (int phase = 0; phase < phases; ++phase) all.phase(own);
      });
  }

 private:
  static constexpr int most = 3;
  situation& s_;
  std::vector<std::unique_ptr<parts>> memory_;
  std::vector<shmem_team_t> teams_;
};

}  // namespace fuzz
