#include "fabric/world.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/received_bytes.hpp"
#include "base/settings.hpp"
#include "model/machine/machine_file.hpp"
#include "transport/choice.hpp"

namespace lull::fabric {
namespace {

transport::rdma_use wanted_rdma() {
  const auto wanted = setting_text("LULL_RDMA");
  return wanted == "off"  ? transport::rdma_use::off
         : wanted == "on" ? transport::rdma_use::on
                          : transport::rdma_use::automatic;
}

// The same for all builds that can share memory and exchange messages: it follows from the sizes of the shared types.
constexpr std::uint64_t form_of_this_build = [] {
  std::uint64_t form = 0;
  for (const std::size_t bytes :
       {sizeof(pe_header), sizeof(symmetric_memory::offer), sizeof(block_descriptor), sizeof(coalesced_amo)})
    form = form * 1'000'003 + bytes;
  for (unsigned kind = 0; kind < message_kinds; ++kind)
    form = form * 1'000'003 + header_bytes(static_cast<message_kind>(kind));
  return form;
}();

}  // namespace

world::world(job::bootstrap& boot)
    : boot_(boot),
      members_(boot_),
      checks_(setting_integer("LULL_CHECK") != 0),
      most_teams_(static_cast<int>(setting_integer("LULL_TEAMS"))),
      memory_(me(), pes(), team::bytes_for(pes(), most_teams_) + 128),
      team_blocks_(static_cast<std::byte*>(memory_.allocate(team::bytes_for(pes(), most_teams_)))),
      awaited_(static_cast<std::uint64_t*>(memory_.allocate(sizeof *awaited_))),
      slots_(most_teams_) {
  if (members_.several_nodes()) protocol_ = make_protocol();
  join();
  if (protocol_)
    progress_ = std::make_unique<progress_thread>(*protocol_, oversubscribed(), members_.cores_of_process());
  serving_.store(progress_.get(), std::memory_order_release);
  const auto here = places().members(places().my_node());
  waiting_.emplace(memory_.bell_of(me()), progress_.get(),
                   wait::wait_surroundings{.oversubscribed = oversubscribed(),
                                           .cores = members_.cores_of_process(),
                                           .alone = here.size() == 1,
                                           .is_reporter = me().index() == 0});
  if (has_rdma()) waiting_->publish(*awaited_, memory_.heap_memory());
  count_calls(true);
  transfers_.emplace(me(), memory_, *waiting_, protocol_.get(), progress_.get(), oversubscribed());
  ground_.emplace(team_ground{me(), pes(), places(), memory_, *transfers_, *waiting_, team_blocks_, checks_});
  std::vector<pe_id> all;
  all.reserve(static_cast<std::size_t>(pes()));
  for (int pe = 0; pe < pes(); ++pe) all.emplace_back(pe);
  everybody_.emplace(*ground_, 0, std::move(all));
  node_team_.emplace(*ground_, 1, std::vector(here.begin(), here.end()));
  boot_.fence();
  memory_.all_have_mapped();
  members_.all_have_exchanged();
}

world::~world() = default;

void world::wake_sleeper() {
  if (progress_thread* const serving = serving_.load(std::memory_order_acquire)) serving->wake_sleeper();
}

std::unique_ptr<protocol> world::make_protocol() {
  pe_header& header = memory_.header_of(me());
  const protocol_hooks hooks{.memory_changed =
                                 [this, bell = &header.bell] {
                                   bell->ring_for_store();
                                   wake_sleeper();
                                 },
                             .node_memory_changed =
                                 [this] {
                                   memory_.ring_node();
                                   wake_sleeper();
                                 },
                             .sleeper_answered = [this] { wake_sleeper(); },
                             .lost = [this](const std::string& found) { boot_.abort_without_peer(found); }};
  const auto make = [this](transport::receiver& to) {
    return transport::make_transport(to, {.processes = pes(),
                                          .me = me().index(),
                                          .here = static_cast<int>(boot_.host_ranks().size()),
                                          .one_host = !boot_.spans_hosts(),
                                          .emulated = members_.emulates_nodes(),
                                          .rdma = wanted_rdma(),
                                          .memory = memory_.heap_memory()});
  };
  auto made = std::make_unique<protocol>(me(), pes(), served_memory{memory_.bytes(), header.accumulating}, hooks, make,
                                         coalescing{.message_bytes = setting_size("LULL_COALESCE"),
                                                    .longest_ns = setting_integer("LULL_COALESCE_US") * 1000},
                                         rdma_settings{.waits_at = memory_.offset_of(awaited_),
                                                       .least_bytes = setting_size("LULL_RDMA_BYTES"),
                                                       .on = model::this_machine()});
  if (auto* const reached = made->remote_memory(); reached && reached->exposed() != memory_.heap_memory().data())
    memory_.lay_heap_on(reached->exposed());
  return made;
}

// Sends the location of this PE's memory and its address to the other PEs, and receives theirs.
void world::join() {
  const symmetric_memory::offer mine = memory_.mine();
  std::vector<std::byte> blob(sizeof form_of_this_build + sizeof mine);
  std::memcpy(blob.data(), &form_of_this_build, sizeof form_of_this_build);
  std::memcpy(blob.data() + sizeof form_of_this_build, &mine, sizeof mine);
  if (protocol_) {
    const auto contact = protocol_->contact();
    blob.insert(blob.end(), contact.begin(), contact.end());
  }
  const auto blobs = members_.exchange(blob);
  std::vector<symmetric_memory::offer> offers(blobs.size());
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    received_bytes read(blobs[i], "join the job with PE " + std::to_string(i));
    const auto form = read.take<std::uint64_t>();
    if (form != form_of_this_build)
      throw error("join the job with PE " + std::to_string(i), "it runs another build of Lull than this PE",
                  "load the same build of Lull on all nodes");
    offers[i] = read.take<symmetric_memory::offer>();
    if (protocol_) protocol_->set_peer(pe_id{static_cast<int>(i)}, read.rest());
  }
  memory_.map(offers, places(),
              [this](pe_id pe) { return has_rdma() ? protocol_->remote_memory()->look_into(pe.index()) : nullptr; });
}

void world::finalize() {
  transfers_->all_complete();
  everybody_->sync();
  boot_.fence();
  if (protocol_) {
    serving_.store(nullptr, std::memory_order_release);
    progress_.reset();
    boot_.fence();  // no PE serves any more, so the end of a connection disturbs none
    protocol_->disconnect();
    boot_.fence();
  }
}

std::vector<std::vector<std::byte>> world::tell_first_pe(const std::string& key, std::span<const std::byte> mine) {
  if (pes() == 1) return {{mine.begin(), mine.end()}};
  boot_.publish(key, mine);
  boot_.fence();
  std::vector<std::vector<std::byte>> all;
  if (me().index() == 0)
    for (int pe = 0; pe < pes(); ++pe) all.push_back(boot_.lookup(key, pe_id{pe}));
  return all;
}

void world::count_calls(bool on) {
  wait().keep_table(on);
  watched_.store(checks_ || wait().statistics_on(), std::memory_order_relaxed);
}

}  // namespace lull::fabric
