// An archive as other tools write them: numbers with gaps, numbers and clocks of each location's own, which tables map to
// the archive's, a resolution that is not nanoseconds, and Score-P's tree of machine and node.
#include <gmock/gmock.h>

#include <cstring>

#include "recorded.hpp"
#include "surroundings.hpp"
#include "trace/analysis.hpp"
#include "trace/archive_reader.hpp"
#include "trace/otf2.hpp"

namespace lull::trace {
namespace {

constexpr OTF2_LocationRef first = 0, second = OTF2_LocationRef{1} << 32;
constexpr OTF2_RegionRef send_region = 40, receive_region = 70;
constexpr std::uint64_t offset = 5'000'000;  // ticks of 10 ns

void write_events(OTF2_Archive* archive) {
  OTF2_Archive_OpenEvtFiles(archive);
  OTF2_EvtWriter* const a = OTF2_Archive_GetEvtWriter(archive, first);
  OTF2_EvtWriter_Enter(a, nullptr, offset + 100, 0);
  OTF2_EvtWriter_MpiSend(a, nullptr, offset + 100, 1, 9, 3, 64);
  OTF2_EvtWriter_Leave(a, nullptr, offset + 110, 0);
  OTF2_Archive_CloseEvtWriter(archive, a);
  OTF2_EvtWriter* const b = OTF2_Archive_GetEvtWriter(archive, second);
  OTF2_EvtWriter_Enter(b, nullptr, offset + 50 + 1000, 0);  // its clock is 1000 ticks ahead
  OTF2_EvtWriter_MpiRecv(b, nullptr, offset + 120 + 1000, 0, 9, 3, 64);
  OTF2_EvtWriter_Leave(b, nullptr, offset + 120 + 1000, 0);
  OTF2_Archive_CloseEvtWriter(archive, b);
  OTF2_Archive_CloseEvtFiles(archive);
}

void write_own_numbers(OTF2_Archive* archive) {
  OTF2_Archive_OpenDefFiles(archive);
  for (const bool is_first : {true, false}) {
    OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive, is_first ? first : second);
    const std::uint64_t means = is_first ? send_region : receive_region;
    OTF2_IdMap* const map = OTF2_IdMap_CreateFromUint64Array(1, &means, false);
    OTF2_DefWriter_WriteMappingTable(local, OTF2_MAPPING_REGION, map);
    OTF2_IdMap_Free(map);
    const std::int64_t ahead = is_first ? 0 : -1000;
    OTF2_DefWriter_WriteClockOffset(local, offset, ahead, 0);
    OTF2_DefWriter_WriteClockOffset(local, offset + 100'000, ahead, 0);
    OTF2_Archive_CloseDefWriter(archive, local);
  }
  OTF2_Archive_CloseDefFiles(archive);
}

void write_definitions_of_all(OTF2_Archive* archive) {
  OTF2_GlobalDefWriter* const w = OTF2_Archive_GetGlobalDefWriter(archive);
  OTF2_GlobalDefWriter_WriteClockProperties(w, 100'000'000, offset, 200, OTF2_UNDEFINED_TIMESTAMP);
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

TEST(foreign_archive, is_read_by_its_own_tables) {
  const temporary_folder folder;
  OTF2_Archive* const archive =
      OTF2_Archive_Open(folder.path().c_str(), "scorep", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                        OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  ASSERT_NE(archive, nullptr);
  const OTF2_FlushCallbacks flushing{
      [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FlushType{OTF2_FLUSH}; }, nullptr};
  OTF2_Archive_SetFlushCallbacks(archive, &flushing, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  write_events(archive);
  write_own_numbers(archive);
  write_definitions_of_all(archive);
  OTF2_Archive_Close(archive);

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

}  // namespace
}  // namespace lull::trace
