// An archive like those of other tools: numbers with gaps; numbers and clocks local to each location, which tables map
// to the archive's; a resolution other than nanoseconds; and Score-P's tree of machine and node.
#include <gmock/gmock.h>

#include <cstring>

#include "recorded.hpp"
#include "surroundings.hpp"
#include "trace/analysis.hpp"
#include "trace/archive/archive_reader.hpp"
#include "trace/archive/otf2.hpp"

namespace lull::trace {
namespace {

constexpr OTF2_LocationRef first = 0, second = OTF2_LocationRef{1} << 32;
constexpr OTF2_RegionRef send_region = 40, receive_region = 70;

// The clocks of an archive. Events are at multiples of `tick` after `zero`, by the global clock; by the second
// location's own clock they are `ahead` later.
struct clocks {
  std::uint64_t resolution = 100'000'000;
  std::uint64_t tick = 1;  // in units of the resolution
  std::uint64_t zero = 5'000'000;
  std::uint64_t offset = zero;  // the begin according to the archive
  std::uint64_t first_ahead = 0, ahead = 1000;
  std::uint64_t ns_per_tick = 10;
  std::uint64_t length = 200 * tick + zero - offset;  // from the offset on
  std::uint64_t begin_ns = 0;                         // from zero to the begin of the trace, as read

  [[nodiscard]] std::uint64_t at(std::uint64_t ticks) const { return zero + ticks * tick; }
};

void write_events(OTF2_Archive* archive, const clocks& by) {
  OTF2_Archive_OpenEvtFiles(archive);
  OTF2_EvtWriter* const a = OTF2_Archive_GetEvtWriter(archive, first);
  OTF2_EvtWriter_Enter(a, nullptr, by.at(100) + by.first_ahead, 0);
  OTF2_EvtWriter_MpiSend(a, nullptr, by.at(100) + by.first_ahead, 1, 9, 3, 64);
  OTF2_EvtWriter_Leave(a, nullptr, by.at(110) + by.first_ahead, 0);
  OTF2_Archive_CloseEvtWriter(archive, a);
  OTF2_EvtWriter* const b = OTF2_Archive_GetEvtWriter(archive, second);
  OTF2_EvtWriter_Enter(b, nullptr, by.at(50) + by.ahead, 0);
  OTF2_EvtWriter_MpiRecv(b, nullptr, by.at(120) + by.ahead, 0, 9, 3, 64);
  OTF2_EvtWriter_Leave(b, nullptr, by.at(120) + by.ahead, 0);
  OTF2_Archive_CloseEvtWriter(archive, b);
  OTF2_Archive_CloseEvtFiles(archive);
}

void write_own_numbers(OTF2_Archive* archive, const clocks& by) {
  OTF2_Archive_OpenDefFiles(archive);
  for (const bool is_first : {true, false}) {
    OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive, is_first ? first : second);
    const std::uint64_t means = is_first ? send_region : receive_region;
    OTF2_IdMap* const map = OTF2_IdMap_CreateFromUint64Array(1, &means, false);
    OTF2_DefWriter_WriteMappingTable(local, OTF2_MAPPING_REGION, map);
    OTF2_IdMap_Free(map);
    const std::uint64_t ahead = is_first ? by.first_ahead : by.ahead;
    for (const std::uint64_t ticks : {0U, 1000U})
      OTF2_DefWriter_WriteClockOffset(local, by.at(ticks) + ahead, static_cast<std::int64_t>(-ahead), 0);
    OTF2_Archive_CloseDefWriter(archive, local);
  }
  OTF2_Archive_CloseDefFiles(archive);
}

void write_definitions_of_all(OTF2_Archive* archive, const clocks& by) {
  OTF2_GlobalDefWriter* const w = OTF2_Archive_GetGlobalDefWriter(archive);
  OTF2_GlobalDefWriter_WriteClockProperties(w, by.resolution, by.offset, by.length, OTF2_UNDEFINED_TIMESTAMP);
  const std::array<const char*, 8> texts{"",     "cluster",  "machine",  "n7",
                                         "node", "MPI_Send", "MPI_Recv", "MPI_COMM_WORLD"};
  for (OTF2_StringRef i = 0; i < texts.size(); ++i) OTF2_GlobalDefWriter_WriteString(w, i, texts[i]);
  OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 0, 1, 2, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  OTF2_GlobalDefWriter_WriteSystemTreeNode(w, 1, 3, 4, 0);
  for (OTF2_LocationGroupRef p : {0U, 5U}) {
    OTF2_GlobalDefWriter_WriteLocationGroup(w, p, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1,
                                            OTF2_UNDEFINED_LOCATION_GROUP);
    OTF2_GlobalDefWriter_WriteLocation(w, p == 0 ? first : second, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 3, p);
  }
  for (const auto& [region, name] : {std::pair(send_region, 5U), std::pair(receive_region, 6U)})
    OTF2_GlobalDefWriter_WriteRegion(w, region, name, name, 0, OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI,
                                     OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0);
  const std::array<std::uint64_t, 2> locations{first, second}, ranks{0, 1};
  OTF2_GlobalDefWriter_WriteGroup(w, 2, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2,
                                  locations.data());
  OTF2_GlobalDefWriter_WriteGroup(w, 4, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2,
                                  ranks.data());
  OTF2_GlobalDefWriter_WriteComm(w, 9, 7, 4, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
  OTF2_Archive_CloseGlobalDefWriter(archive, w);
}

void write_archive(const temporary_folder& folder, const clocks& by) {
  OTF2_Archive* const archive =
      OTF2_Archive_Open(folder.path().c_str(), "scorep", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  ASSERT_NE(archive, nullptr);
  const OTF2_FlushCallbacks flushing{
      [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FlushType{OTF2_FLUSH}; }, nullptr};
  OTF2_Archive_SetFlushCallbacks(archive, &flushing, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  write_events(archive, by);
  write_own_numbers(archive, by);
  write_definitions_of_all(archive, by);
  OTF2_Archive_Close(archive);
}

TEST(foreign_archive, is_read_by_its_own_tables) {
  const temporary_folder folder;
  write_archive(folder, {});
  archive_reader reader(folder.path());
  const definitions& all = reader.all();
  ASSERT_EQ(all.processes.size(), 2U);
  EXPECT_EQ(all.processes[1].host, "n7");
  EXPECT_EQ(all.processes[1].rank, 1);
  kept_events kept;
  reader.read(kept);
  ASSERT_EQ(kept.events.size(), 6U);
  EXPECT_EQ(kept.events[0].time_ns, 500U);
  EXPECT_EQ(kept.events[0].location, 1U);
  EXPECT_EQ(all.regions[kept.events[0].region].name, "MPI_Recv");
  EXPECT_EQ(all.regions[kept.events[1].region].name, "MPI_Send");
  analyser found(all, 4);
  for (const event& e : kept.events) found.on(e);
  const analysis a = found.result();
  EXPECT_NEAR(a.processes[1].seconds[static_cast<std::size_t>(time_state::late_sender)], 500e-9, 1e-12);
  EXPECT_EQ(a.unmatched_sends + a.unmatched_receives + a.too_early, 0U);
}

TEST(foreign_archive, may_have_clocks_of_any_resolution_and_offset) {
  constexpr std::uint64_t day = 1'700'000'000'000'000'000;  // nanoseconds since 1970
  const std::uint64_t at_first_event = 50;
  const std::vector<clocks> all{
      {.resolution = 1, .ns_per_tick = 1'000'000'000},
      {.resolution = 1'000'000'000'000'000, .tick = 1'000'000, .zero = 1ULL << 63U, .ns_per_tick = 1},
      {.resolution = ~std::uint64_t{0} / 2, .tick = (~std::uint64_t{0} / 2 + 999'999) / 1'000'000, .ns_per_tick = 1000},
      {.resolution = 3, .tick = 3, .zero = ~std::uint64_t{0} - 5000, .ns_per_tick = 1'000'000'000},
      {.resolution = 1'000'000'000, .zero = day, .ns_per_tick = 1},
      // The begin in the archive is invalid: the trace begins with its first event.
      {.resolution = 1'000'000'000, .zero = day, .offset = 0, .ns_per_tick = 1, .begin_ns = at_first_event},
      {.resolution = 1'000'000'000, .zero = day, .offset = day + 90, .ns_per_tick = 1, .begin_ns = at_first_event},
      {.resolution = 1'000'000'000, .zero = 0, .offset = day, .ns_per_tick = 1, .begin_ns = at_first_event},
      // Clocks that the corrections move before 0, or far away.
      {.zero = ~std::uint64_t{0} - 79, .offset = 0, .first_ahead = 4000, .ahead = 1ULL << 62U, .begin_ns = 500},
      {.zero = 77, .ahead = std::uint64_t{0} - 20},
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    const temporary_folder folder;
    write_archive(folder, all[i]);
    archive_reader reader(folder.path());
    reader.open();
    EXPECT_EQ(reader.all().length_ns, 200 * all[i].ns_per_tick - all[i].begin_ns);
    kept_events kept;
    reader.read(kept);
    std::vector<std::uint64_t> ns;
    for (const event& e : kept.events) ns.push_back((e.time_ns + all[i].begin_ns) / all[i].ns_per_tick);
    EXPECT_THAT(ns, testing::ElementsAre(50, 100, 100, 110, 120, 120));
  }
}

}  // namespace
}  // namespace lull::trace
