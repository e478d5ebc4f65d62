// Teams: subsets of PEs with their own numbering. All members of the parent take part in making a team.
#include <algorithm>
#include <utility>

#include "fabric/teams/team_slots.hpp"
#include "shmem/current.hpp"

using lull::pe_id;
using lull::fabric::team;
using lull::shmem::here;
using lull::shmem::team_of;

namespace {

// Splits `parent`: this PE gets the team of the given members, or no team if it is not among them. Collective over the
// parent. Returns 1 if some PE is in too many teams already.
int split(const char* call, team& parent, const std::vector<int>& indices, const shmem_team_config_t& config,
          shmem_team_t* result) {
  *result = SHMEM_TEAM_INVALID;
  auto& world = here(call);
  const auto slot = world.slots().agree(parent);
  if (!slot) return 1;
  std::vector<pe_id> members;
  members.reserve(indices.size());
  for (const int index : indices) members.push_back(parent.pe(index));
  const bool member = std::ranges::find(indices, parent.my_index()) != indices.end();
  if (member) team::clear(world.ground(), *slot);
  parent.sync();  // all members have cleared their blocks
  if (!member) {
    world.slots().give_back(*slot);
    return 0;
  }
  *result = std::make_unique<lull_team>(std::make_unique<team>(world.ground(), *slot, std::move(members)), config)
                .release();  // the handle owns it until shmem_team_destroy
  lull::shmem::handles().add(*result);
  return 0;
}

shmem_team_config_t chosen(const shmem_team_config_t* config, long mask) {
  return config && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 ? *config : shmem_team_config_t{};
}

}  // namespace

int shmem_team_my_pe(shmem_team_t handle) {
  const team* const t = team_of(here("shmem_team_my_pe"), handle);
  return t ? t->my_index() : -1;
}

int shmem_team_n_pes(shmem_team_t handle) {
  const team* const t = team_of(here("shmem_team_n_pes"), handle);
  return t ? t->size() : -1;
}

int shmem_team_get_config(shmem_team_t handle, long config_mask, shmem_team_config_t* config) {
  if (!team_of(here("shmem_team_get_config"), handle)) return 1;
  const bool made = handle != SHMEM_TEAM_WORLD && handle != SHMEM_TEAM_SHARED;
  if (config && (config_mask & SHMEM_TEAM_NUM_CONTEXTS) != 0)
    config->num_contexts = made ? handle->config.num_contexts : 0;
  return 0;
}

int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team) {
  auto& world = here("shmem_team_translate_pe");
  const team* const from = team_of(world, src_team);
  const team* const to = team_of(world, dest_team);
  if (!from || !to || src_pe < 0 || src_pe >= from->size()) return -1;
  return to->index_of(from->pe(src_pe));
}

int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t* config, long config_mask, shmem_team_t* new_team) {
  constexpr const char* call = "shmem_team_split_strided";
  *new_team = SHMEM_TEAM_INVALID;
  team* const parent = team_of(here(call), parent_team);
  if (!parent) return 1;
  const long last = start + static_cast<long>(size - 1) * stride;
  if (size < 1 || (stride == 0 && size > 1) || start < 0 || start >= parent->size() || last < 0 ||
      last >= parent->size())
    return 1;  // the same on all PEs, because they pass the same arguments
  std::vector<int> indices(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) indices[static_cast<std::size_t>(i)] = start + i * stride;
  return split(call, *parent, indices, chosen(config, config_mask), new_team);
}

int shmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config, long xaxis_mask,
                        shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config, long yaxis_mask,
                        shmem_team_t* yaxis_team) {
  constexpr const char* call = "shmem_team_split_2d";
  *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
  team* const parent = team_of(here(call), parent_team);
  if (!parent || xrange < 1) return 1;
  const int width = std::min(xrange, parent->size());
  const int me = parent->my_index();
  std::vector<int> row, column;
  for (int i = me / width * width; i < std::min((me / width + 1) * width, parent->size()); ++i) row.push_back(i);
  for (int i = me % width; i < parent->size(); i += width) column.push_back(i);
  if (const int failed = split(call, *parent, row, chosen(xaxis_config, xaxis_mask), xaxis_team)) return failed;
  if (const int failed = split(call, *parent, column, chosen(yaxis_config, yaxis_mask), yaxis_team)) {
    shmem_team_destroy(std::exchange(*xaxis_team, SHMEM_TEAM_INVALID));
    return failed;
  }
  return 0;
}

void shmem_team_destroy(shmem_team_t handle) {
  if (handle == SHMEM_TEAM_INVALID || handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED) return;
  auto& world = here("shmem_team_destroy");
  lull::shmem::handles().remove(handle);
  for (const shmem_ctx_t ctx : handle->take_contexts()) lull::shmem::destroy(ctx);
  handle->team->leave();
  world.slots().give_back(handle->team->slot());
  const std::unique_ptr<lull_team> owner(handle);
}
