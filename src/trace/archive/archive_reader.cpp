#include "trace/archive/archive_reader.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "trace/archive/otf2.hpp"
#include "trace/archive/reading_definitions.hpp"
#include "trace/archive/recorded_events.hpp"
#include "trace/functions.hpp"
#include "trace/merging/merged_file.hpp"

namespace lull::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t at_once = 512;  // events that are read ahead per location
constexpr std::uint64_t beat_every = 1 << 18;
constexpr std::uint64_t longest_lead_ns = 1'000'000'000'000'000;  // from an archive's begin to its first event

template <class T>
using deleter = void (*)(T*);
template <class T>
using owned = std::unique_ptr<T, deleter<T>>;

// A location: its reader, and the events that were read ahead. Their times are ticks of the archive until they are
// passed on.
struct stream {
  std::uint32_t location = 0;
  OTF2_EvtReader* reader = nullptr;
  const definition_numbers* numbers = nullptr;
  std::vector<event> events;
  std::size_t at = 0;
  bool ended = false;
};

event& add(void* user, OTF2_TimeStamp time, happening what) {
  auto& s = *static_cast<stream*>(user);
  return s.events.emplace_back(event{.time_ns = time, .location = s.location, .what = what});
}
std::uint32_t communicator(void* user, OTF2_CommRef c) {
  return static_cast<stream*>(user)->numbers->communicators.of(c);
}
std::uint32_t window(void* user, OTF2_RmaWinRef w) { return static_cast<stream*>(user)->numbers->windows.of(w); }

// The callbacks, each with OTF2's signature for its event.
constexpr auto ok = OTF2_CALLBACK_SUCCESS;
using L = OTF2_LocationRef;
using T = OTF2_TimeStamp;
using P = std::uint64_t;
using A = OTF2_AttributeList;

OTF2_CallbackCode on_enter(L, T t, P, void* u, A*, OTF2_RegionRef r) {
  add(u, t, happening::enter).region = static_cast<stream*>(u)->numbers->regions.of(r);
  return ok;
}
OTF2_CallbackCode on_leave(L, T t, P, void* u, A*, OTF2_RegionRef r) {
  add(u, t, happening::leave).region = static_cast<stream*>(u)->numbers->regions.of(r);
  return ok;
}
void message(event& e, std::uint32_t comm, std::uint32_t peer, std::uint32_t tag, std::uint64_t bytes,
             std::uint64_t request) {
  e.communicator = comm;
  e.peer = static_cast<std::int32_t>(peer);
  e.tag = tag;
  e.bytes = bytes;
  e.request = request;
}
OTF2_CallbackCode on_send(L, T t, P, void* u, A*, std::uint32_t peer, OTF2_CommRef c, std::uint32_t tag,
                          std::uint64_t n) {
  message(add(u, t, happening::send), communicator(u, c), peer, tag, n, 0);
  return ok;
}
OTF2_CallbackCode on_isend(L, T t, P, void* u, A*, std::uint32_t peer, OTF2_CommRef c, std::uint32_t tag,
                           std::uint64_t n, std::uint64_t request) {
  message(add(u, t, happening::isend), communicator(u, c), peer, tag, n, request);
  return ok;
}
OTF2_CallbackCode on_receive(L, T t, P, void* u, A*, std::uint32_t peer, OTF2_CommRef c, std::uint32_t tag,
                             std::uint64_t n) {
  message(add(u, t, happening::receive), communicator(u, c), peer, tag, n, 0);
  return ok;
}
OTF2_CallbackCode on_irecv(L, T t, P, void* u, A*, std::uint32_t peer, OTF2_CommRef c, std::uint32_t tag,
                           std::uint64_t n, std::uint64_t request) {
  message(add(u, t, happening::irecv), communicator(u, c), peer, tag, n, request);
  return ok;
}
template <happening what>
OTF2_CallbackCode on_request(L, T t, P, void* u, A*, std::uint64_t request) {
  add(u, t, what).request = request;
  return ok;
}
template <happening what>
OTF2_CallbackCode on_begin(L, T t, P, void* u, A*) {
  add(u, t, what);
  return ok;
}
void collective_of(event& e, OTF2_CollectiveOp op, std::uint32_t comm, std::uint32_t root, std::uint64_t sent,
                   std::uint64_t received) {
  e.operation = static_cast<collective>(op);
  e.communicator = comm;
  e.peer = root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? -1 : static_cast<std::int32_t>(root);
  e.bytes = sent;
  e.received = received;
}
OTF2_CallbackCode on_collective_end(L, T t, P, void* u, A*, OTF2_CollectiveOp op, OTF2_CommRef c, std::uint32_t root,
                                    std::uint64_t sent, std::uint64_t received) {
  collective_of(add(u, t, happening::collective_end), op, communicator(u, c), root, sent, received);
  return ok;
}
OTF2_CallbackCode on_icollective_complete(L, T t, P, void* u, A*, OTF2_CollectiveOp op, OTF2_CommRef c,
                                          std::uint32_t root, std::uint64_t sent, std::uint64_t received,
                                          std::uint64_t request) {
  event& e = add(u, t, happening::icollective_complete);
  collective_of(e, op, communicator(u, c), root, sent, received);
  e.request = request;
  return ok;
}
OTF2_CallbackCode on_window_collective_end(L, T t, P, void* u, A*, OTF2_CollectiveOp op, OTF2_RmaSyncLevel,
                                           OTF2_RmaWinRef w, std::uint32_t root, std::uint64_t sent,
                                           std::uint64_t received) {
  collective_of(add(u, t, happening::window_collective_end), op, window(u, w), root, sent, received);
  return ok;
}
template <happening what>
OTF2_CallbackCode on_one_sided(L, T t, P, void* u, A*, OTF2_RmaWinRef w, std::uint32_t peer, std::uint64_t n,
                               std::uint64_t matching) {
  message(add(u, t, what), window(u, w), peer, 0, n, matching);
  return ok;
}
OTF2_CallbackCode on_atomic(L, T t, P, void* u, A*, OTF2_RmaWinRef w, std::uint32_t peer, OTF2_RmaAtomicType,
                            std::uint64_t sent, std::uint64_t received, std::uint64_t matching) {
  event& e = add(u, t, happening::atomic);
  message(e, window(u, w), peer, 0, sent, matching);
  e.received = received;
  return ok;
}
template <happening what>
OTF2_CallbackCode on_one_sided_complete(L, T t, P, void* u, A*, OTF2_RmaWinRef w, std::uint64_t matching) {
  event& e = add(u, t, what);
  e.communicator = window(u, w);
  e.request = matching;
  return ok;
}
OTF2_CallbackCode on_acquire(L, T t, P, void* u, A*, OTF2_RmaWinRef w, std::uint32_t peer, std::uint64_t,
                             OTF2_LockType type) {
  message(add(u, t, happening::lock_acquired), window(u, w), peer, type == OTF2_LOCK_EXCLUSIVE ? 1 : 0, 0, 0);
  return ok;
}
OTF2_CallbackCode on_release(L, T t, P, void* u, A*, OTF2_RmaWinRef w, std::uint32_t peer, std::uint64_t) {
  message(add(u, t, happening::lock_released), window(u, w), peer, 0, 0, 0);
  return ok;
}
OTF2_CallbackCode on_metric(L, T t, P, void* u, A*, OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type* types,
                            const OTF2_MetricValue* values) {
  const auto& members = static_cast<stream*>(u)->numbers->metrics_of(metric);
  for (std::size_t i = 0; i < std::min<std::size_t>(count, members.size()); ++i) {
    event& e = add(u, t, happening::metric);
    e.region = members[i];
    e.value = types[i] == OTF2_TYPE_DOUBLE   ? values[i].floating_point
              : types[i] == OTF2_TYPE_UINT64 ? static_cast<double>(values[i].unsigned_int)
                                             : static_cast<double>(values[i].signed_int);
  }
  return ok;
}

owned<OTF2_EvtReaderCallbacks> all_callbacks() {
  owned<OTF2_EvtReaderCallbacks> c(OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
  OTF2_EvtReaderCallbacks_SetEnterCallback(c.get(), on_enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(c.get(), on_leave);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(c.get(), on_send);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c.get(), on_isend);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c.get(), on_request<happening::isend_complete>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c.get(), on_request<happening::irecv_request>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c.get(), on_receive);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c.get(), on_irecv);
  OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c.get(), on_request<happening::request_tested>);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c.get(), on_request<happening::request_cancelled>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c.get(), on_begin<happening::collective_begin>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c.get(), on_collective_end);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c.get(), on_request<happening::icollective_request>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c.get(), on_icollective_complete);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(c.get(), on_one_sided<happening::put>);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(c.get(), on_one_sided<happening::get>);
  OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c.get(), on_atomic);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(
      c.get(), on_one_sided_complete<happening::one_sided_blocking_complete>);
  OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(c.get(), on_one_sided_complete<happening::one_sided_complete>);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(c.get(), on_begin<happening::window_collective_begin>);
  OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c.get(), on_window_collective_end);
  OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c.get(), on_acquire);
  OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c.get(), on_release);
  OTF2_EvtReaderCallbacks_SetMetricCallback(c.get(), on_metric);
  return c;
}

// Each location has an open file.
void allow_open_files(std::size_t files) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > files + 100) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, files + 100);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct archive_reader::state {
  explicit state(const fs::path& path)
      : action("read " + path.string()),
        reader((quiet_otf2(), OTF2_Reader_Open(path.c_str())), [](OTF2_Reader* r) { (void)OTF2_Reader_Close(r); }) {
    if (reader == nullptr) failed_otf2(action, "check whether the archive is complete");
    check_otf2(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()), action);
    read_definitions(reader.get(), action, all, numbers);
    char* creator = nullptr;
    if (OTF2_Reader_GetCreator(reader.get(), &creator) == OTF2_SUCCESS && creator != nullptr) {
      all.creator = creator;
      std::free(creator);  // NOLINT(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory): OTF2 gives it away
    }
  }

  // Reads ahead; returns false if the location has no more events.
  bool refill(stream& s) const {
    s.events.clear();
    s.at = 0;
    while (s.events.empty() && !s.ended) {
      std::uint64_t read = 0;
      const OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(reader.get(), s.reader, at_once, &read);
      if (code != OTF2_SUCCESS && code != OTF2_ERROR_INDEX_OUT_OF_BOUNDS)
        failed_otf2(action, "check whether the archive is complete");
      s.ended = read < at_once;
    }
    return !s.events.empty();
  }

  // Opens the events and reads the first of each location, which determine where the trace begins.
  void open() {
    if (opened) return;
    opened = true;
    const auto& ids = numbers.location_ids;
    allow_open_files(ids.size());
    read_mappings(reader.get(), action, ids);
    check_otf2(OTF2_Reader_OpenEvtFiles(reader.get()), action);
    const auto callbacks = all_callbacks();
    streams.resize(ids.size());
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      stream& s = streams[i];
      s.location = i;
      s.numbers = &numbers;
      if (all.locations[i].events == 0) continue;
      s.reader = OTF2_Reader_GetEvtReader(reader.get(), ids[i]);
      if (s.reader == nullptr) failed_otf2(action, "check whether the archive is complete");
      check_otf2(OTF2_Reader_RegisterEvtCallbacks(reader.get(), s.reader, callbacks.get(), &s), action);
      (void)OTF2_EvtReader_ApplyMappingTables(s.reader, true);
      (void)OTF2_EvtReader_ApplyClockOffsets(s.reader, true);
      refill(s);
    }
    find_begin();
  }

  // An archive states a time before all events. If events with corrected clocks precede it, or if it is no begin at all
  // (0, with events in wall clock time), the trace begins with its first event.
  void find_begin() {
    std::optional<std::int64_t> first;
    for (const stream& s : streams)
      if (s.at < s.events.size()) first = std::min(first.value_or(ticks(s)), ticks(s));
    const auto ahead = static_cast<std::uint64_t>(first.value_or(0));  // modulo 2^64
    if (!first || (*first >= 0 && numbers.ns_of_ticks(ahead) <= longest_lead_ns)) return;
    const std::uint64_t moved_ns = numbers.ns_of_ticks(*first < 0 ? -ahead : ahead);
    if (all.begin_ns != 0) all.begin_ns = *first < 0 ? all.begin_ns - moved_ns : all.begin_ns + moved_ns;
    numbers.begin_ticks += ahead;
    numbers.length_ticks = *first < 0 || numbers.length_ticks > ahead ? numbers.length_ticks - ahead : 0;
    all.length_ns = numbers.ns_of_ticks(numbers.length_ticks);
  }

  // Ticks from the begin to the stream's next event.
  [[nodiscard]] std::int64_t ticks(const stream& s) const { return numbers.ticks_since_begin(s.events[s.at].time_ns); }

  const std::string action;
  const owned<OTF2_Reader> reader;
  definitions all;
  definition_numbers numbers;
  std::vector<stream> streams;  // by location, once open
  bool opened = false;
};

fs::path find_anchor(const fs::path& path) {
  const std::string action = "read the trace " + path.string();
  std::error_code failed;
  if (fs::is_regular_file(path, failed)) return path;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path, failed))
    if (entry.path().extension() == ".otf2") found.push_back(entry.path());
  if (failed) throw error(action, failed.message(), "name the folder of a trace, or its file .otf2 or .lulltrace");
  if (fs::path merged = path / merging::merged_name; found.empty() && fs::exists(merged, failed)) return merged;
  if (found.empty()) {
    const bool raw = fs::is_directory(path / "raw", failed);
    throw error(action, "it contains no .otf2 file",
                raw ? "create one from the records with lull archive convert" : "name the folder of a trace");
  }
  if (found.size() > 1) throw error(action, "it contains several .otf2 files", "name one of them");
  return found.front();
}

archive_reader::archive_reader(const fs::path& path) {
  const fs::path anchor = find_anchor(path);
  if (anchor.extension() == merging::merged_extension)
    recorded_ = std::make_unique<recorded_events>(anchor);
  else
    state_ = std::make_unique<state>(anchor);
}
archive_reader::~archive_reader() = default;

const definitions& archive_reader::all() const { return recorded_ ? recorded_->all() : state_->all; }

std::vector<std::string> archive_reader::remarks() const {
  return recorded_ ? recorded_->remarks() : std::vector<std::string>();
}

void archive_reader::open() {
  if (recorded_)
    recorded_->open();
  else
    state_->open();
}

void archive_reader::read(event_visitor& to, const reading_progress& progress) {
  if (recorded_) {
    recorded_->open();
    return recorded_->read(to, progress);
  }
  state& s = *state_;
  s.open();
  OTF2_Reader* const reader = s.reader.get();
  std::vector<stream>& streams = s.streams;
  const auto later = [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t of_a = s.ticks(streams[a]), of_b = s.ticks(streams[b]);
    return of_a != of_b ? of_a > of_b : a > b;
  };
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> next(later);
  std::uint64_t expected = 0, done = 0, said = 0;
  for (const stream& each : streams) {
    expected += s.all.locations[each.location].events;
    if (!each.events.empty()) next.push(each.location);
  }
  while (!next.empty()) {
    stream& first = streams[next.top()];
    next.pop();
    // Continues without the queue while no other location is earlier.
    const std::int64_t until = next.empty() ? std::numeric_limits<std::int64_t>::max() : s.ticks(streams[next.top()]);
    bool more = true;
    do {
      event& e = first.events[first.at++];
      e.time_ns = s.numbers.ns(e.time_ns);
      to.on(e);
      ++done;
      more = first.at < first.events.size() || s.refill(first);
    } while (more && s.ticks(first) < until);
    if (more) next.push(first.location);
    if (progress && done - said >= beat_every) {
      said = done;
      if (!progress(done, std::max(expected, done))) throw error(s.action, "it was interrupted");
    }
  }
  for (stream& each : streams)
    if (each.reader != nullptr) (void)OTF2_Reader_CloseEvtReader(reader, each.reader);
  (void)OTF2_Reader_CloseEvtFiles(reader);
  if (progress) progress(done, done);
}

}  // namespace lull::trace
