#include "trace/archive/archive_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "base/topology.hpp"
#include "trace/archive/archive_definitions.hpp"
#include "trace/archive/clocks.hpp"
#include "trace/archive/crossings.hpp"
#include "trace/archive/energy.hpp"
#include "trace/archive/joined.hpp"
#include "trace/archive/otf2.hpp"
#include "trace/archive/replay.hpp"
#include "trace/merging/recordings.hpp"

struct OTF2_LockObject {
  std::mutex mutex;
};

namespace lull::trace {
namespace {

namespace fs = std::filesystem;

constexpr unsigned most_threads = 4;
constexpr std::uint64_t event_chunk = 256 << 10;  // per location, for writing and for reading

// The folder in which an archive is written; removed with its content unless it is moved.
class aside_folder {
 public:
  explicit aside_folder(const fs::path& into) : path_(into / (".archive-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  aside_folder(const aside_folder&) = delete;
  aside_folder& operator=(const aside_folder&) = delete;
  ~aside_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  // Moves the anchor last: if it exists, the archive is complete.
  void move_to(const fs::path& into) const {
    fs::remove(into / "traces.otf2");
    fs::remove(into / "traces.def");
    fs::remove_all(into / "traces");
    for (const char* name : {"traces", "traces.def", "traces.otf2"}) fs::rename(path_ / name, into / name);
  }

 private:
  fs::path path_;
};

// OTF2's buffers for a file before it is written. Its default allocator would use 128 MiB for each thread of a process.
using chunks = std::vector<std::unique_ptr<char[]>>;

std::size_t most_chunks(OTF2_FileType type) { return type == OTF2_FILETYPE_EVENTS ? 8 : 32; }

void* take_chunk(void*, OTF2_FileType type, OTF2_LocationRef, void** of_file, std::uint64_t bytes) {
  if (*of_file == nullptr) *of_file = std::make_unique<chunks>().release();
  auto& taken = *static_cast<chunks*>(*of_file);
  if (taken.size() == most_chunks(type)) return nullptr;  // makes OTF2 write the file
  return taken.emplace_back(std::make_unique<char[]>(bytes)).get();
}

void give_chunks_back(void*, OTF2_FileType, OTF2_LocationRef, void** of_file, bool) {
  const std::unique_ptr<chunks> taken(static_cast<chunks*>(std::exchange(*of_file, nullptr)));
}

const OTF2_MemoryCallbacks memory{.otf2_allocate = take_chunk, .otf2_free_all = give_chunks_back};

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

const OTF2_FlushCallbacks flushing{.otf2_pre_flush = flush_always, .otf2_post_flush = nullptr};

const OTF2_LockingCallbacks locking{
    .otf2_release = nullptr,
    .otf2_create =
        [](void*, OTF2_Lock* lock) {
          *lock = std::make_unique<OTF2_LockObject>().release();
          return OTF2_CALLBACK_SUCCESS;
        },
    .otf2_destroy =
        [](void*, OTF2_Lock lock) {
          const std::unique_ptr<OTF2_LockObject> owned(lock);
          return OTF2_CALLBACK_SUCCESS;
        },
    .otf2_lock =
        [](void*, OTF2_Lock lock) {
          lock->mutex.lock();
          return OTF2_CALLBACK_SUCCESS;
        },
    .otf2_unlock =
        [](void*, OTF2_Lock lock) {
          lock->mutex.unlock();
          return OTF2_CALLBACK_SUCCESS;
        },
};

class archive {
 public:
  explicit archive(const fs::path& folder)
      : asked_("write the archive in " + folder.parent_path().string()),
        handle_(OTF2_Archive_Open(folder.c_str(), "traces", OTF2_FILEMODE_WRITE, event_chunk,
                                  OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
    if (handle_ == nullptr) failed_otf2(asked_);
    check(OTF2_Archive_SetMemoryCallbacks(handle_, &memory, nullptr));
    check(OTF2_Archive_SetFlushCallbacks(handle_, &flushing, nullptr));
    check(OTF2_Archive_SetLockingCallbacks(handle_, &locking, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(handle_));
    check(OTF2_Archive_SetCreator(handle_, "Lull"));
  }
  archive(const archive&) = delete;
  archive& operator=(const archive&) = delete;
  ~archive() {
    if (handle_ != nullptr) (void)OTF2_Archive_Close(handle_);
  }
  void close() { check(OTF2_Archive_Close(std::exchange(handle_, nullptr))); }
  void check(OTF2_ErrorCode code) const {
    if (code != OTF2_SUCCESS) failed_otf2(asked_, make_room);
  }
  template <class T>
  T* checked(T* made) const {
    if (made == nullptr) failed_otf2(asked_, make_room);
    return made;
  }
  [[nodiscard]] OTF2_Archive* get() const { return handle_; }

 private:
  std::string asked_;
  OTF2_Archive* handle_;
};

// Writes the events of one process.
class process_writer : public event_visitor {
 public:
  process_writer(const archive& to, const joined_process& p) : to_(to) {
    for (const std::uint32_t location : p.locations) {
      if (location >= writers_.size()) writers_.resize(location + 1);
      writers_[location].handle = to.checked(OTF2_Archive_GetEvtWriter(to.get(), location));
    }
  }

  void on(const event& e) override {
    writer& w = writers_[e.location];
    to_.check(write(w.handle, e));
    ++w.events;
    first_ns = std::min(first_ns, e.time_ns);
    last_ns = std::max(last_ns, e.time_ns);
  }

  // Stores the number of events of each location in `all`.
  void close(definitions& all) {
    for (std::size_t location = 0; location < writers_.size(); ++location) {
      if (writers_[location].handle == nullptr) continue;
      all.locations[location].events = writers_[location].events;
      to_.check(OTF2_Archive_CloseEvtWriter(to_.get(), writers_[location].handle));
    }
  }

  std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0;

 private:
  struct writer {
    OTF2_EvtWriter* handle = nullptr;
    std::uint64_t events = 0;
  };

  static OTF2_ErrorCode write(OTF2_EvtWriter* w, const event& e) {
    const auto peer = static_cast<std::uint32_t>(e.peer);
    const auto operation = static_cast<OTF2_CollectiveOp>(e.operation);
    const std::uint32_t root = e.peer < 0 ? OTF2_UNDEFINED_UINT32 : peer;
    const OTF2_RmaSyncLevel synchronised = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;
    switch (e.what) {
      case happening::enter:
        return OTF2_EvtWriter_Enter(w, nullptr, e.time_ns, e.region);
      case happening::leave:
        return OTF2_EvtWriter_Leave(w, nullptr, e.time_ns, e.region);
      case happening::send:
        return OTF2_EvtWriter_MpiSend(w, nullptr, e.time_ns, peer, e.communicator, e.tag, e.bytes);
      case happening::isend:
        return OTF2_EvtWriter_MpiIsend(w, nullptr, e.time_ns, peer, e.communicator, e.tag, e.bytes, e.request);
      case happening::isend_complete:
        return OTF2_EvtWriter_MpiIsendComplete(w, nullptr, e.time_ns, e.request);
      case happening::irecv_request:
        return OTF2_EvtWriter_MpiIrecvRequest(w, nullptr, e.time_ns, e.request);
      case happening::receive:
        return OTF2_EvtWriter_MpiRecv(w, nullptr, e.time_ns, peer, e.communicator, e.tag, e.bytes);
      case happening::irecv:
        return OTF2_EvtWriter_MpiIrecv(w, nullptr, e.time_ns, peer, e.communicator, e.tag, e.bytes, e.request);
      case happening::request_tested:
        return OTF2_EvtWriter_MpiRequestTest(w, nullptr, e.time_ns, e.request);
      case happening::request_cancelled:
        return OTF2_EvtWriter_MpiRequestCancelled(w, nullptr, e.time_ns, e.request);
      case happening::collective_begin:
        return OTF2_EvtWriter_MpiCollectiveBegin(w, nullptr, e.time_ns);
      case happening::collective_end:
        return OTF2_EvtWriter_MpiCollectiveEnd(w, nullptr, e.time_ns, operation, e.communicator, root, e.bytes,
                                               e.received);
      case happening::icollective_request:
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(w, nullptr, e.time_ns, e.request);
      case happening::icollective_complete:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(w, nullptr, e.time_ns, operation, e.communicator, root,
                                                            e.bytes, e.received, e.request);
      case happening::put:
        return OTF2_EvtWriter_RmaPut(w, nullptr, e.time_ns, e.communicator, peer, e.bytes, e.request);
      case happening::get:
        return OTF2_EvtWriter_RmaGet(w, nullptr, e.time_ns, e.communicator, peer, e.bytes, e.request);
      case happening::atomic:
        return OTF2_EvtWriter_RmaAtomic(w, nullptr, e.time_ns, e.communicator, peer, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
                                        e.bytes, e.received, e.request);
      case happening::one_sided_blocking_complete:
        return OTF2_EvtWriter_RmaOpCompleteBlocking(w, nullptr, e.time_ns, e.communicator, e.request);
      case happening::one_sided_complete:
        return OTF2_EvtWriter_RmaOpCompleteRemote(w, nullptr, e.time_ns, e.communicator, e.request);
      case happening::window_collective_begin:
        return OTF2_EvtWriter_RmaCollectiveBegin(w, nullptr, e.time_ns);
      case happening::window_collective_end:
        return OTF2_EvtWriter_RmaCollectiveEnd(w, nullptr, e.time_ns, operation, synchronised, e.communicator, root, 0,
                                               0);
      case happening::lock_acquired:
        return OTF2_EvtWriter_RmaAcquireLock(w, nullptr, e.time_ns, e.communicator, peer, 0,
                                             e.tag == 1 ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
      case happening::lock_released:
        return OTF2_EvtWriter_RmaReleaseLock(w, nullptr, e.time_ns, e.communicator, peer, 0);
      case happening::metric:
        break;  // write_energy writes them
    }
    return OTF2_SUCCESS;
  }

  const archive& to_;
  std::vector<writer> writers_;  // by location
};

// Converts several processes in parallel.
class converter {
 public:
  converter(joined& all, const joined_clocks& clocks, const archive& to, const conversion_progress& progress)
      : all_(all), clocks_(clocks), to_(to), progress_(progress) {
    for (const joined_process& p : all.processes)
      if (p.raw != nullptr)
        for (const raw_log& log : p.raw->logs) expected_ += log.records;
  }

  void run() {
    const unsigned threads = std::clamp(static_cast<unsigned>(allowed_cores().size()), 1U, most_threads);
    std::vector<std::jthread> workers;
    for (unsigned t = 1; t < std::min<std::size_t>(threads, all_.processes.size()); ++t)
      workers.emplace_back([this] { work(); });
    work();
    workers.clear();
    if (failure_) std::rethrow_exception(failure_);
  }

  std::uint64_t records = 0, first_ns = ~std::uint64_t{0}, last_ns = 0;

 private:
  void work() {
    try {
      for (std::uint32_t p = next_++; p < all_.processes.size() && !failed_; p = next_++) convert(p);
    } catch (...) {
      const std::scoped_lock lock(lock_);
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
  }

  void convert(std::uint32_t p) {
    process_writer writer(to_, all_.processes[p]);
    const left_over left = replay(all_, p, clocks_, writer, [this](std::uint64_t more) { show(more); });
    const std::scoped_lock lock(lock_);
    writer.close(all_.all);
    records += left.records;
    if (left.is_damaged)
      all_.remarks.push_back(
          fmt::format("{}: its folded records are damaged; what came before is kept", all_.all.processes[p].name));
    first_ns = std::min(first_ns, writer.first_ns);
    last_ns = std::max(last_ns, writer.last_ns);
  }

  void show(std::uint64_t more) {
    const std::scoped_lock lock(lock_);
    done_ += more;
    if (failed_ || (progress_ && !progress_(done_, std::max(expected_, done_))))
      throw error("convert the records", "it was interrupted", "convert them later with lull archive convert");
  }

  joined& all_;
  const joined_clocks& clocks_;
  const archive& to_;
  const conversion_progress& progress_;
  std::uint64_t expected_ = 0, done_ = 0;
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex lock_;
  std::exception_ptr failure_;
};

// Corrects the clocks of hosts by messages; counts these, and those that still arrive before they were sent.
void join_hosts(const joined& all, joined_clocks& clocks, conversion& made) {
  if (clocks.clocks() < 2) return;
  const std::vector<crossing> before = find_crossings(all, clocks);
  made.crossings = before.size();
  clocks.correct(before);
  const std::vector<crossing> after = find_crossings(all, clocks);
  made.too_early = static_cast<std::uint64_t>(
      std::ranges::count_if(after, [](const crossing& m) { return m.received_ns < m.sent_ns; }));
}

// Writes the energy of each host to a location of its first process.
std::uint64_t write_energy(const archive& to, joined& all, const joined_clocks& clocks,
                           std::vector<energy_series>& hosts, converter& span) {
  std::uint64_t events = 0;
  std::uint32_t metric = 0;
  for (energy_series& host : hosts) {
    auto at = std::ranges::find(all.all.processes, host.host, &definitions::process::host);
    if (at == all.all.processes.end()) at = all.all.processes.begin();  // all its processes ran on virtual hosts

    host.location = static_cast<std::uint32_t>(all.all.locations.size());
    host.metric_class = metric++;
    const std::uint32_t clock = clocks.clock_of_host(host.host);
    OTF2_EvtWriter* const writer = to.checked(OTF2_Archive_GetEvtWriter(to.get(), host.location));
    std::uint64_t here = 0;
    for (const energy_sample& sample : host.samples()) {
      const auto now = static_cast<std::uint64_t>(clocks.ns_of_monotonic(clock, sample.time_ns));
      std::vector<OTF2_MetricValue> values;
      for (const double value : sample.values) values.push_back({.floating_point = value});
      const std::vector<OTF2_Type> types(values.size(), OTF2_TYPE_DOUBLE);
      to.check(OTF2_EvtWriter_Metric(writer, nullptr, now, host.metric_class, static_cast<std::uint8_t>(values.size()),
                                     types.data(), values.data()));
      span.first_ns = std::min(span.first_ns, now);
      span.last_ns = std::max(span.last_ns, now);
      ++here;
    }
    to.check(OTF2_Archive_CloseEvtWriter(to.get(), writer));
    all.all.locations.push_back({.name = "energy of " + host.host,
                                 .process = static_cast<std::uint32_t>(at - all.all.processes.begin()),
                                 .events = here,
                                 .is_thread = false});
    events += here;
  }
  return events;
}

}  // namespace

conversion write_archive(const fs::path& raw, const fs::path& into, const conversion_progress& progress) {
  quiet_otf2();
  const merging::recordings from = merging::read_all_recordings(raw);
  const std::vector<raw_process> found = merging::processes_of(from);
  joined all = join(found);
  conversion made{.processes = all.processes.size()};
  if (all.processes.empty())
    throw error("convert the records in " + raw.string(), "no process has recorded anything",
                "the program must use MPI and be dynamically linked");
  std::vector<const raw_process*> raws;
  std::set<std::string> hosts;
  for (const joined_process& p : all.processes) {
    raws.push_back(p.raw);
    if (p.raw != nullptr) hosts.insert(p.raw->host);
  }
  made.hosts = hosts.size();
  joined_clocks clocks(raws);
  try {
    join_hosts(all, clocks, made);
    const aside_folder aside(into);
    archive to(aside.path());
    to.check(OTF2_Archive_OpenEvtFiles(to.get()));
    converter converted(all, clocks, to, progress);
    converted.run();
    std::vector<energy_series> energy = read_energy(from);
    std::uint64_t events = write_energy(to, all, clocks, energy, converted);
    for (const auto& location : all.all.locations)
      if (location.is_thread) events += location.events;
    to.check(OTF2_Archive_CloseEvtFiles(to.get()));
    all.all.begin_ns = std::min(converted.first_ns, converted.last_ns);
    all.all.length_ns = converted.last_ns - all.all.begin_ns;
    write_definitions(to.get(), all.all, energy);
    to.close();
    aside.move_to(into);
    made.records = converted.records;
    made.events = events;
  } catch (const fs::filesystem_error& e) {
    throw error("write the archive in " + into.string(), e.code().message());
  }
  made.remarks = std::move(all.remarks);
  return made;
}

}  // namespace lull::trace
