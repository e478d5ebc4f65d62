#include "trace/archive/reading_definitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "trace/functions.hpp"

namespace lull::trace {
namespace {

using unique_callbacks = std::unique_ptr<OTF2_GlobalDefReaderCallbacks, void (*)(OTF2_GlobalDefReaderCallbacks*)>;

// The definitions as the archive contains them, before references between them are resolved.
struct as_read {
  std::uint64_t resolution = 1'000'000'000, offset = 0, length = 0, realtime = OTF2_UNDEFINED_TIMESTAMP;
  std::unordered_map<OTF2_StringRef, std::string> texts;
  struct node {
    OTF2_StringRef name, kind;
    OTF2_SystemTreeNodeRef parent;
  };
  std::map<OTF2_SystemTreeNodeRef, node> nodes;
  struct process {
    OTF2_StringRef name;
    OTF2_SystemTreeNodeRef node;
    OTF2_LocationGroupRef creator;
  };
  std::map<OTF2_LocationGroupRef, process> processes;
  struct location {
    OTF2_LocationRef id;
    OTF2_StringRef name;
    OTF2_LocationType type;
    std::uint64_t events;
    OTF2_LocationGroupRef process;
  };
  std::vector<location> locations;
  struct region {
    OTF2_RegionRef self;
    OTF2_StringRef name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
  };
  std::vector<region> regions;
  struct group {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    OTF2_GroupFlag flags;
    std::vector<std::uint64_t> members;
  };
  std::map<OTF2_GroupRef, group> groups;
  struct communicator {
    OTF2_CommRef self;
    OTF2_StringRef name;
    OTF2_GroupRef group, remote;
  };
  std::vector<communicator> communicators;
  struct window {
    OTF2_RmaWinRef self;
    OTF2_StringRef name;
    OTF2_CommRef communicator;
  };
  std::vector<window> windows;
  struct metric {
    OTF2_StringRef name, unit;
  };
  std::map<OTF2_MetricMemberRef, metric> members;
  std::map<OTF2_MetricRef, std::vector<OTF2_MetricMemberRef>> classes;
  std::map<OTF2_MetricRef, OTF2_MetricRef> instances;
};

as_read& in(void* user) { return *static_cast<as_read*>(user); }
constexpr auto ok = OTF2_CALLBACK_SUCCESS;

unique_callbacks callbacks() {
  unique_callbacks c(OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
      c.get(),
      [](void* u, std::uint64_t resolution, std::uint64_t offset, std::uint64_t length, std::uint64_t realtime) {
        in(u).resolution = std::max<std::uint64_t>(resolution, 1);
        in(u).offset = offset;
        in(u).length = length;
        in(u).realtime = realtime;
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(c.get(), [](void* u, OTF2_StringRef self, const char* text) {
    in(u).texts[self] = text;
    return ok;
  });
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
      c.get(), [](void* u, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef kind,
                  OTF2_SystemTreeNodeRef parent) {
        in(u).nodes[self] = {name, kind, parent};
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      c.get(), [](void* u, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType,
                  OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef creator) {
        in(u).processes[self] = {name, node, creator};
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      c.get(), [](void* u, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, std::uint64_t events,
                  OTF2_LocationGroupRef process) {
        in(u).locations.push_back({self, name, type, events, process});
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      c.get(),
      [](void* u, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef, OTF2_RegionRole role,
         OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef, std::uint32_t, std::uint32_t) {
        in(u).regions.push_back({self, name, role, paradigm});
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      c.get(), [](void* u, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                  OTF2_GroupFlag flags, std::uint32_t count, const std::uint64_t* members) {
        in(u).groups[self] = {type, paradigm, flags, {members, members + count}};
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(
      c.get(), [](void* u, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef, OTF2_CommFlag) {
        in(u).communicators.push_back({self, name, group, OTF2_UNDEFINED_GROUP});
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(
      c.get(), [](void* u, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef,
                  OTF2_CommFlag) {
        in(u).communicators.push_back({self, name, a, b});
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(
      c.get(), [](void* u, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm, OTF2_RmaWinFlag) {
        in(u).windows.push_back({self, name, comm});
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
      c.get(), [](void* u, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_MetricType,
                  OTF2_MetricMode, OTF2_Type, OTF2_Base, std::int64_t, OTF2_StringRef unit) {
        in(u).members[self] = {name, unit};
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
      c.get(), [](void* u, OTF2_MetricRef self, std::uint8_t count, const OTF2_MetricMemberRef* members,
                  OTF2_MetricOccurrence, OTF2_RecorderKind) {
        in(u).classes[self] = {members, members + count};
        return ok;
      });
  OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
      c.get(), [](void* u, OTF2_MetricRef self, OTF2_MetricRef of, OTF2_LocationRef, OTF2_MetricScope, std::uint64_t) {
        in(u).instances[self] = of;
        return ok;
      });
  return c;
}

std::string paradigm_name(OTF2_Paradigm paradigm) {
  switch (paradigm) {
    case OTF2_PARADIGM_MPI:
      return "mpi";
    case OTF2_PARADIGM_SHMEM:
      return "shmem";
    case OTF2_PARADIGM_USER:
      return "user";
    case OTF2_PARADIGM_MEASUREMENT_SYSTEM:
      return "program";
    default:
      return "other";
  }
}

class resolver {
 public:
  resolver(const as_read& read, definitions& all, definition_numbers& numbers)
      : read_(read), all_(all), numbers_(numbers) {}

  void resolve() {
    numbers_.ticks_per_second = read_.resolution;
    numbers_.begin_ticks = read_.offset;
    numbers_.length_ticks = read_.length;
    all_.length_ns = numbers_.ns_of_ticks(read_.length);
    all_.begin_ns = read_.realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : read_.realtime;
    processes();
    regions();
    communicators();
    metrics();
    numbers_.regions.index();
    numbers_.communicators.index();
    numbers_.windows.index();
  }

 private:
  [[nodiscard]] std::string text(OTF2_StringRef of) const {
    const auto found = read_.texts.find(of);
    return found == read_.texts.end() ? "" : found->second;
  }

  // The node of the system tree that is a host: the one of Score-P's class "node"; otherwise the lowest.
  [[nodiscard]] std::string host(OTF2_SystemTreeNodeRef lowest) const {
    for (auto at = read_.nodes.find(lowest); at != read_.nodes.end(); at = read_.nodes.find(at->second.parent))
      if (text(at->second.kind) == "node") return text(at->second.name);
    const auto found = read_.nodes.find(lowest);
    return found == read_.nodes.end() ? "" : text(found->second.name);
  }

  void processes() {
    for (const auto& [self, p] : read_.processes) {
      process_places_[self] = static_cast<std::uint32_t>(all_.processes.size());
      all_.processes.push_back({.name = text(p.name), .host = host(p.node), .paradigm = ""});
    }
    for (const auto& l : read_.locations) {
      const auto process = process_places_.find(l.process);
      if (process == process_places_.end()) continue;
      location_places_[l.id] = static_cast<std::uint32_t>(all_.locations.size());
      numbers_.location_ids.push_back(l.id);
      all_.locations.push_back({.name = text(l.name),
                                .process = process->second,
                                .events = l.events,
                                .is_thread = l.type == OTF2_LOCATION_TYPE_CPU_THREAD});
    }
    for (const auto& [self, group] : read_.groups) {
      if (group.type != OTF2_GROUP_TYPE_COMM_LOCATIONS) continue;
      const std::string paradigm = paradigm_name(group.paradigm);
      if (paradigm == "other") continue;
      auto& speaking = speaking_[group.paradigm];
      for (const std::uint64_t location : group.members) {
        const auto at = location_places_.find(location);
        const std::uint32_t process = at == location_places_.end() ? no_one : all_.locations[at->second].process;
        if (process != no_one) {
          all_.processes[process].paradigm = paradigm;
          all_.processes[process].rank = static_cast<int>(speaking.size());
        }
        speaking.push_back(process);
      }
    }
  }

  void regions() {
    for (const auto& r : read_.regions) {
      numbers_.regions.add(r.self, static_cast<std::uint32_t>(all_.regions.size()));
      const std::string paradigm = paradigm_name(r.paradigm), name = text(r.name);
      all_.regions.push_back({.name = name, .paradigm = paradigm, .what = role_of_function(paradigm, name)});
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> members(OTF2_GroupRef group) const {
    const auto found = read_.groups.find(group);
    if (found == read_.groups.end() || found->second.type == OTF2_GROUP_TYPE_COMM_SELF) return {};
    const auto speaking = speaking_.find(found->second.paradigm);
    if (speaking == speaking_.end()) return {};
    if (found->second.flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) return speaking->second;  // ranks refer to all
    std::vector<std::uint32_t> processes;
    for (const std::uint64_t place : found->second.members)
      processes.push_back(place < speaking->second.size() ? speaking->second[place] : no_one);
    return processes;
  }

  void communicators() {
    for (const auto& c : read_.communicators) {
      numbers_.communicators.add(c.self, static_cast<std::uint32_t>(all_.communicators.size()));
      all_.communicators.push_back({.name = text(c.name), .members = members(c.group), .remote = members(c.remote)});
    }
    numbers_.communicators.index();
    for (const auto& w : read_.windows) {
      numbers_.windows.add(w.self, static_cast<std::uint32_t>(all_.windows.size()));
      all_.windows.push_back({.name = text(w.name), .communicator = numbers_.communicators.of(w.communicator)});
    }
  }

  void metrics() {
    std::map<OTF2_MetricMemberRef, std::uint32_t> places;
    for (const auto& [self, m] : read_.members) {
      places[self] = static_cast<std::uint32_t>(all_.metrics.size());
      all_.metrics.push_back({.name = text(m.name), .unit = text(m.unit), .host = ""});
    }
    for (const auto& [self, list] : read_.classes)
      for (const OTF2_MetricMemberRef m : list)
        if (const auto at = places.find(m); at != places.end()) numbers_.metrics[self].push_back(at->second);
    for (const auto& [self, of] : read_.instances)
      if (const auto found = numbers_.metrics.find(of); found != numbers_.metrics.end())
        numbers_.metrics[self] = std::vector(found->second);
  }

  const as_read& read_;
  definitions& all_;
  definition_numbers& numbers_;
  std::map<OTF2_LocationGroupRef, std::uint32_t> process_places_;
  std::unordered_map<OTF2_LocationRef, std::uint32_t> location_places_;
  std::map<OTF2_Paradigm, std::vector<std::uint32_t>> speaking_;  // processes in the order of COMM_LOCATIONS
};

}  // namespace

void read_definitions(OTF2_Reader* reader, const std::string& action, definitions& all, definition_numbers& numbers) {
  as_read read;
  OTF2_GlobalDefReader* const global = OTF2_Reader_GetGlobalDefReader(reader);
  if (global == nullptr) failed_otf2(action, "check whether the archive is complete");
  const unique_callbacks found = callbacks();
  check_otf2(OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, found.get(), &read), action);
  std::uint64_t count = 0;
  check_otf2(OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &count), action,
             "check whether the archive is complete");
  std::uint64_t locations = 0;
  if (OTF2_Reader_GetNumberOfLocations(reader, &locations) == OTF2_SUCCESS && read.locations.size() < locations)
    throw error(action, fmt::format("only {1} of its {0} locations are defined", locations, read.locations.size()),
                "the archive is incomplete");
  resolver(read, all, numbers).resolve();
}

void read_mappings(OTF2_Reader* reader, const std::string& action, const std::vector<OTF2_LocationRef>& locations) {
  for (const OTF2_LocationRef location : locations) check_otf2(OTF2_Reader_SelectLocation(reader, location), action);
  if (OTF2_Reader_OpenDefFiles(reader) != OTF2_SUCCESS) return;  // there are none
  for (const OTF2_LocationRef location : locations) {
    OTF2_DefReader* const local = OTF2_Reader_GetDefReader(reader, location);
    if (local == nullptr) continue;
    std::uint64_t count = 0;
    check_otf2(OTF2_Reader_ReadAllLocalDefinitions(reader, local, &count), action,
               "check whether the archive is complete");
    (void)OTF2_Reader_CloseDefReader(reader, local);
  }
  (void)OTF2_Reader_CloseDefFiles(reader);
}

}  // namespace lull::trace
