// Teams number their members as they were split, translate numbers, and can be made and destroyed any number of times.
#include <algorithm>
#include <vector>

#include "check.hpp"

namespace {

// Every member can communicate with the others: a sum over the team of the members' numbers in the world.
void acts_together(shmem_team_t team, const std::vector<int>& members) {
  static long mine, sum;
  if (team == SHMEM_TEAM_INVALID) return;
  mine = shmem_my_pe() + 1;
  CHECK(shmem_long_sum_reduce(team, &sum, &mine, 1) == 0);
  long right = 0;
  for (const int pe : members) right += pe + 1;
  CHECK(sum == right);
  CHECK(shmem_team_sync(team) == 0);
}

void is_made_of(const ring& r, shmem_team_t team, const std::vector<int>& members) {
  const auto found = std::ranges::find(members, r.me);
  if (found == members.end()) {
    CHECK(team == SHMEM_TEAM_INVALID);
    return;
  }
  CHECK(team != SHMEM_TEAM_INVALID);
  CHECK(shmem_team_my_pe(team) == found - members.begin());
  CHECK(shmem_team_n_pes(team) == static_cast<int>(members.size()));
  for (int pe = 0; pe < r.pes; ++pe) {
    const auto there = std::ranges::find(members, pe);
    const int index = there == members.end() ? -1 : static_cast<int>(there - members.begin());
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team) == index);
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    CHECK(shmem_team_translate_pe(team, static_cast<int>(i), SHMEM_TEAM_WORLD) == members[i]);
  CHECK(shmem_team_translate_pe(team, static_cast<int>(members.size()), SHMEM_TEAM_WORLD) == -1);
  acts_together(team, members);
}

std::vector<int> strided(int start, int stride, int size) {
  std::vector<int> members(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) members[static_cast<std::size_t>(i)] = start + i * stride;
  return members;
}

void the_world_and_those_who_share_memory(const ring& r) {
  is_made_of(r, SHMEM_TEAM_WORLD, strided(0, 1, r.pes));
  std::vector<int> near;
  for (int pe = 0; pe < r.pes; ++pe)
    if (shmemx_node_of(pe) == shmemx_node_of(r.me)) near.push_back(pe);
  is_made_of(r, SHMEM_TEAM_SHARED, near);
  static int word;
  for (int i = 0; i < shmem_team_n_pes(SHMEM_TEAM_SHARED); ++i)
    CHECK(shmem_ptr(&word, shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD)) != nullptr);
}

// An address for each member that shares memory, by its number in the team, and for no other.
void pointers_to_members(const ring& r) {
  static int mine;
  mine = r.me;
  shmem_team_t reversed = SHMEM_TEAM_INVALID;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, r.pes - 1, -1, r.pes, nullptr, 0, &reversed) == 0);
  shmem_barrier_all();
  for (int index = 0; index < r.pes; ++index) {
    const int pe = r.pes - 1 - index;
    const auto* const there = static_cast<int*>(shmem_team_ptr(reversed, &mine, index));
    CHECK((there != nullptr) == (shmemx_node_of(pe) == shmemx_node_of(r.me)));
    if (there) CHECK(*there == pe);
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, &mine, pe) == there);
  }
  for (int index = 0; index < shmem_team_n_pes(SHMEM_TEAM_SHARED); ++index)
    CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, &mine, index) != nullptr);
  CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, &mine, 0) == nullptr);
  CHECK(shmem_team_ptr(reversed, &mine, -1) == nullptr && shmem_team_ptr(reversed, &mine, r.pes) == nullptr);
  CHECK(shmem_team_ptr(reversed, &reversed, 0) == nullptr);  // on the stack
  shmem_barrier_all();
  shmem_team_destroy(reversed);
}

void every_strided_part(const ring& r) {
  for (int start = 0; start < r.pes; ++start)
    for (int stride = -r.pes; stride <= r.pes; ++stride)
      for (int size = 1; size <= r.pes; ++size) {
        if ((stride == 0 && size > 1) || (r.pes > 4 && (start + stride + size) % 5 != 0)) continue;
        const int last = start + (size - 1) * stride;
        shmem_team_t team = SHMEM_TEAM_WORLD;
        const int failed = shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &team);
        if (last < 0 || last >= r.pes) {
          CHECK(failed != 0 && team == SHMEM_TEAM_INVALID);
          continue;
        }
        CHECK(failed == 0);
        is_made_of(r, team, strided(start, stride, size));
        shmem_team_destroy(team);
      }
}

void every_grid(const ring& r) {
  for (int width = 1; width <= r.pes + 1; ++width) {
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, nullptr, 0, &row, nullptr, 0, &column) == 0);
    const int x = std::min(width, r.pes);
    is_made_of(r, row, strided(r.me / x * x, 1, std::min(x, r.pes - r.me / x * x)));
    is_made_of(r, column, strided(r.me % x, x, (r.pes - r.me % x + x - 1) / x));
    shmem_team_destroy(row);
    shmem_team_destroy(column);
  }
}

void teams_of_teams(const ring& r) {
  shmem_team_t reversed = SHMEM_TEAM_INVALID, half = SHMEM_TEAM_INVALID, first = SHMEM_TEAM_INVALID;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, r.pes - 1, -1, r.pes, nullptr, 0, &reversed) == 0);
  const int size = (r.pes + 1) / 2;
  CHECK(shmem_team_split_strided(reversed, 0, 2, size, nullptr, 0, &half) == 0);
  is_made_of(r, half, strided(r.pes - 1, -2, size));
  if (half != SHMEM_TEAM_INVALID) {
    CHECK(shmem_team_split_strided(half, size - 1, -1, size, nullptr, 0, &first) == 0);
    is_made_of(r, first, strided(r.pes - 1 - 2 * (size - 1), 2, size));
    CHECK(shmem_team_translate_pe(half, 0, first) == size - 1);
    CHECK(shmem_team_translate_pe(first, 0, reversed) == 2 * (size - 1));
  }
  shmem_team_destroy(first);
  shmem_team_destroy(half);
  shmem_team_destroy(reversed);
}

void the_configuration_is_kept() {
  const shmem_team_config_t asked{.num_contexts = 3};
  shmem_team_t team = SHMEM_TEAM_INVALID;
  const int pes = shmem_n_pes();
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, &asked, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
  shmem_team_config_t told{.num_contexts = -1};
  CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &told) == 0 && told.num_contexts == 3);
  CHECK(shmem_team_get_config(team, 0, nullptr) == 0);
  CHECK(shmem_team_get_config(team, 0, &told) == 0 && told.num_contexts == 3);
  shmem_team_destroy(team);
  CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &told) != 0);
}

void invalid_teams_are_refused() {
  shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
  CHECK(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1);
  CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1);
  CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, nullptr, 0, &team) != 0 && team == SHMEM_TEAM_INVALID);
  team = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, nullptr, 0, &team, nullptr, 0, &other) != 0);
  CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
  CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, nullptr, 0, &team, nullptr, 0, &other) != 0);
  shmem_team_destroy(SHMEM_TEAM_INVALID);
}

// As many teams at a time as allowed, then one too many, which fails everywhere; afterwards all can be made again.
void a_pe_has_a_bounded_number_of_teams() {
  std::vector<shmem_team_t> teams;
  for (;;) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team) != 0) break;
    teams.push_back(team);
  }
  CHECK(teams.size() >= 32 && teams.size() < 64);
  for (const shmem_team_t team : teams) shmem_team_destroy(team);
}

// Slots are reused at once, by teams of other members, while the slowest PE may still be leaving the old team.
void thousands_come_and_go(const ring& r) {
  for (int i = 0; i < 1000; ++i) {
    const int size = 1 + i % r.pes, start = i % (r.pes - size + 1);
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, nullptr, 0, &team) == 0);
    if (i % 7 == 0) acts_together(team, strided(start, 1, size));
    shmem_team_destroy(team);
  }
  // Within halves that do not wait for each other; each splits repeatedly.
  shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
  CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, std::max(1, r.pes / 2), nullptr, 0, &row, nullptr, 0, &column) == 0);
  for (int i = 0; i < 1000; ++i) {
    const shmem_team_t parent = i % 3 == 0 ? column : row;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK(shmem_team_split_strided(parent, 0, 1, shmem_team_n_pes(parent), nullptr, 0, &team) == 0);
    shmem_team_sync(team);
    shmem_team_destroy(team);
  }
  shmem_team_destroy(column);
  shmem_team_destroy(row);
}

}  // namespace

int main() {
  shmem_init();
  const ring r;
  the_world_and_those_who_share_memory(r);
  pointers_to_members(r);
  every_strided_part(r);
  every_grid(r);
  teams_of_teams(r);
  the_configuration_is_kept();
  invalid_teams_are_refused();
  a_pe_has_a_bounded_number_of_teams();
  thousands_come_and_go(r);
  finish();
}
