#include "trace/archive/archive_definitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace lull::trace {
namespace {

const std::string action = "write the definitions of the archive";

void check(OTF2_ErrorCode code) { check_otf2(code, action, make_room); }

OTF2_Paradigm paradigm_of(const std::string& name) {
  if (name == "mpi") return OTF2_PARADIGM_MPI;
  if (name == "shmem") return OTF2_PARADIGM_SHMEM;
  if (name == "user") return OTF2_PARADIGM_USER;
  return OTF2_PARADIGM_MEASUREMENT_SYSTEM;
}

OTF2_RegionRole role_of(const definitions::region& r) {
  switch (r.what) {
    case role::code:
      return r.paradigm == "program" ? OTF2_REGION_ROLE_ARTIFICIAL : OTF2_REGION_ROLE_CODE;
    case role::library:
    case role::setup:
      return OTF2_REGION_ROLE_FUNCTION;
    case role::point_to_point:
      return OTF2_REGION_ROLE_POINT2POINT;
    case role::all_to_all:
      return r.name.find("arrier") != std::string::npos ? OTF2_REGION_ROLE_BARRIER : OTF2_REGION_ROLE_COLL_ALL2ALL;
    case role::one_to_all:
      return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case role::all_to_one:
      return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case role::other_collective:
      return OTF2_REGION_ROLE_COLL_OTHER;
    case role::one_sided:
      return OTF2_REGION_ROLE_RMA;
    case role::files:
      return OTF2_REGION_ROLE_FILE_IO;
  }
  return OTF2_REGION_ROLE_UNKNOWN;
}

class definition_writer {
 public:
  definition_writer(OTF2_Archive* archive, const definitions& all, const std::vector<energy_series>& energy)
      : archive_(archive), all_(all), energy_(energy), to_(OTF2_Archive_GetGlobalDefWriter(archive)) {
    if (to_ == nullptr) failed_otf2(action);
  }

  void write() {
    write_local();
    check(OTF2_GlobalDefWriter_WriteClockProperties(to_, 1'000'000'000, all_.begin_ns, all_.length_ns + 1,
                                                    all_.begin_ns));
    (void)text("");
    write_paradigms();
    write_system();
    write_regions();
    write_groups();
    write_energy();
    check(OTF2_Archive_CloseGlobalDefWriter(archive_, to_));
  }

 private:
  // The number of a text, which is defined at its first use.
  OTF2_StringRef text(const std::string& of) {
    const auto [found, is_new] = texts_.try_emplace(of, static_cast<OTF2_StringRef>(texts_.size()));
    if (is_new) check(OTF2_GlobalDefWriter_WriteString(to_, found->second, of.c_str()));
    return found->second;
  }

  // Writes empty local definitions: all numbers are global already, but readers open these files in any case.
  void write_local() {
    check(OTF2_Archive_OpenDefFiles(archive_));
    for (std::size_t i = 0; i < all_.locations.size(); ++i) {
      OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive_, i);
      if (local == nullptr) failed_otf2(action);
      check(OTF2_Archive_CloseDefWriter(archive_, local));
    }
    check(OTF2_Archive_CloseDefFiles(archive_));
  }

  void write_paradigms() {
    std::set<std::string> used;
    for (const auto& p : all_.processes) used.insert(p.paradigm);
    if (used.contains("mpi"))
      check(OTF2_GlobalDefWriter_WriteParadigm(to_, OTF2_PARADIGM_MPI, text("MPI"), OTF2_PARADIGM_CLASS_PROCESS));
    if (used.contains("shmem"))
      check(OTF2_GlobalDefWriter_WriteParadigm(to_, OTF2_PARADIGM_SHMEM, text("SHMEM"), OTF2_PARADIGM_CLASS_PROCESS));
  }

  // The machine, its hosts, their processes, and the threads of these.
  void write_system() {
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(to_, 0, text("machine"), text("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(to_, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    for (const auto& p : all_.processes) {
      const auto [node, is_new] = nodes_.try_emplace(p.host, static_cast<OTF2_SystemTreeNodeRef>(nodes_.size() + 1));
      if (!is_new) continue;
      check(OTF2_GlobalDefWriter_WriteSystemTreeNode(to_, node->second, text(p.host), text("node"), 0));
      check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(to_, node->second, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    }
    for (std::size_t i = 0; i < all_.processes.size(); ++i)
      check(OTF2_GlobalDefWriter_WriteLocationGroup(to_, static_cast<OTF2_LocationGroupRef>(i),
                                                    text(all_.processes[i].name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                    nodes_.at(all_.processes[i].host), OTF2_UNDEFINED_LOCATION_GROUP));
    for (std::size_t i = 0; i < all_.locations.size(); ++i) {
      const auto& l = all_.locations[i];
      check(OTF2_GlobalDefWriter_WriteLocation(to_, i, text(l.name),
                                               l.is_thread ? OTF2_LOCATION_TYPE_CPU_THREAD : OTF2_LOCATION_TYPE_METRIC,
                                               l.events, l.process));
    }
  }

  void write_regions() {
    for (std::size_t i = 0; i < all_.regions.size(); ++i) {
      const auto& r = all_.regions[i];
      const OTF2_StringRef name = text(r.name);
      check(OTF2_GlobalDefWriter_WriteRegion(to_, static_cast<OTF2_RegionRef>(i), name, name, text(""), role_of(r),
                                             paradigm_of(r.paradigm), OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0,
                                             0));
    }
  }

  // First all communicating locations; then the groups of them that communicators and windows use.
  void write_groups() {
    std::map<std::string, std::vector<std::uint64_t>> speaking;  // locations by paradigm
    std::vector<std::uint64_t> place(all_.processes.size(), 0);  // of a process, in the list of its paradigm
    for (std::size_t i = 0; i < all_.locations.size(); ++i) {
      const auto& l = all_.locations[i];
      const auto& p = all_.processes[l.process];
      const bool first = l.is_thread && (i == 0 || all_.locations[i - 1].process != l.process);
      if (!first || p.rank < 0) continue;
      place[l.process] = speaking[p.paradigm].size();
      speaking[p.paradigm].push_back(i);
    }
    for (const auto& [paradigm, locations] : speaking)
      check(OTF2_GlobalDefWriter_WriteGroup(to_, groups_++, text(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                            paradigm_of(paradigm), OTF2_GROUP_FLAG_NONE,
                                            static_cast<std::uint32_t>(locations.size()), locations.data()));
    std::map<std::vector<std::uint32_t>, OTF2_GroupRef> known;
    const auto group_of = [&](const std::vector<std::uint32_t>& members) {
      const auto [found, is_new] = known.try_emplace(members, groups_);
      if (!is_new) return found->second;
      std::vector<std::uint64_t> places;
      places.reserve(members.size());
      for (const std::uint32_t m : members) places.push_back(place[m]);
      const OTF2_Paradigm paradigm = paradigm_of(members.empty() ? "mpi" : all_.processes[members[0]].paradigm);
      check(OTF2_GlobalDefWriter_WriteGroup(to_, groups_++, text(""), OTF2_GROUP_TYPE_COMM_GROUP, paradigm,
                                            OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(places.size()),
                                            places.data()));
      return found->second;
    };
    for (std::size_t i = 0; i < all_.communicators.size(); ++i) {
      const auto& c = all_.communicators[i];
      const auto self = static_cast<OTF2_CommRef>(i);
      const OTF2_GroupRef group = group_of(c.members);
      if (c.remote.empty())
        check(OTF2_GlobalDefWriter_WriteComm(to_, self, text(c.name), group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
      else
        check(OTF2_GlobalDefWriter_WriteInterComm(to_, self, text(c.name), group, group_of(c.remote),
                                                  OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
    for (std::size_t i = 0; i < all_.windows.size(); ++i)
      check(OTF2_GlobalDefWriter_WriteRmaWin(to_, static_cast<OTF2_RmaWinRef>(i), text(all_.windows[i].name),
                                             all_.windows[i].communicator, OTF2_RMA_WIN_FLAG_NONE));
  }

  // Metrics of each host: the joules of each channel since the begin, then the watts since the previous reading.
  void write_energy() {
    OTF2_MetricMemberRef member = 0;
    for (const energy_series& host : energy_) {
      if (host.location == 0) continue;  // no process ran there
      std::vector<OTF2_MetricMemberRef> members;
      const auto add = [&](const energy_channel& c, const char* what, const char* unit, OTF2_MetricMode mode) {
        const std::string name = name_of_metric(what, c);
        check(OTF2_GlobalDefWriter_WriteMetricMember(to_, member, text(name), text(c.kind), OTF2_METRIC_TYPE_OTHER,
                                                     mode, OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, text(unit)));
        members.push_back(member++);
      };
      for (const energy_channel& c : host.channels) add(c, "energy", "J", OTF2_METRIC_ACCUMULATED_START);
      for (const energy_channel& c : host.channels) add(c, "power", "W", OTF2_METRIC_ABSOLUTE_LAST);
      check(OTF2_GlobalDefWriter_WriteMetricClass(to_, host.metric_class, static_cast<std::uint8_t>(members.size()),
                                                  members.data(), OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
      check(OTF2_GlobalDefWriter_WriteMetricClassRecorder(to_, host.metric_class, host.location));
    }
  }

  OTF2_Archive* archive_;
  const definitions& all_;
  const std::vector<energy_series>& energy_;
  OTF2_GlobalDefWriter* to_;
  std::unordered_map<std::string, OTF2_StringRef> texts_;
  std::map<std::string, OTF2_SystemTreeNodeRef> nodes_;
  OTF2_GroupRef groups_ = 0;
};

}  // namespace

void write_definitions(OTF2_Archive* archive, const definitions& all, const std::vector<energy_series>& energy) {
  definition_writer(archive, all, energy).write();
}

}  // namespace lull::trace
