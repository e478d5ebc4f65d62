#include "launch/pmix_server.hpp"

#include <dlfcn.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/launcher.hpp"
#include "base/topology.hpp"
#include "launch/children.hpp"

namespace lull::launch {
namespace {

// Global, because PMIx's callbacks carry no user pointer; there is one server per process.
struct state {
  std::string job;
  descriptor event;
  std::atomic<bool> aborted{false};
  std::atomic<bool> peer_lost{false};
  std::string lost_line;  // of the first PE that cannot reach another; set before peer_lost
  std::atomic<int> abort_code{0};
  enum class stage { outside, inside, left };    // before PMIx_Init, after it, after PMIx_Finalize
  std::unique_ptr<std::atomic<stage>[]> stages;  // by rank

  void announce() const { signal_event_fd(event.get()); }
} server_state;

void check(pmix_status_t status, const char* action) {
  if (status != PMIX_SUCCESS) throw error(action, std::string("PMIx answered ") + PMIx_Error_string(status));
}

// Runs a PMIx call that completes through an op callback, and waits for it.
template <class Call>
void await(const char* action, Call call) {
  std::promise<pmix_status_t> answer;
  auto future = answer.get_future();
  const pmix_op_cbfunc_t done = [](pmix_status_t status, void* promise) {
    static_cast<std::promise<pmix_status_t>*>(promise)->set_value(status);
  };
  const pmix_status_t accepted = call(done, &answer);
  if (accepted == PMIX_OPERATION_SUCCEEDED) return;
  check(accepted, action);
  check(future.get(), action);
}

// The event library inside PMIx prints a warning when a client ends while a reply to it is being written, which does
// not concern the user: the launcher reports how it ended. The library is accessed as PMIx has loaded it.
void silence_event_library() {
  using log_callback = void (*)(int severity, const char* text);
  using set_log_callback = void (*)(log_callback);
  void* const found = dlsym(RTLD_DEFAULT, "event_set_log_callback");
  if (found != nullptr) reinterpret_cast<set_log_callback>(found)([](int, const char*) {});
}

pmix_status_t on_connected(const pmix_proc_t* proc, void*, pmix_info_t*, std::size_t, pmix_op_cbfunc_t done,
                           void* data) {
  server_state.stages[proc->rank] = state::stage::inside;
  server_state.announce();
  if (done) done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

pmix_status_t on_finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t done, void* data) {
  server_state.stages[proc->rank] = state::stage::left;
  if (done) done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

pmix_status_t on_abort(const pmix_proc_t*, void*, int code, const char* why, pmix_proc_t*, std::size_t,
                       pmix_op_cbfunc_t done, void* data) {
  if (why && std::string_view(why).starts_with(peer_is_lost)) {
    if (!server_state.peer_lost) server_state.lost_line = why + peer_is_lost.size();
    server_state.peer_lost = true;
    server_state.announce();
    return PMIX_SUCCESS;  // no reply: the process waits for it until it is ended
  }
  server_state.abort_code = code;
  server_state.aborted = true;
  server_state.announce();
  if (done) done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}

// All PEs are local, so the library has collected all data: returns it.
pmix_status_t on_fence(const pmix_proc_t*, std::size_t, const pmix_info_t*, std::size_t, char* data, std::size_t bytes,
                       pmix_modex_cbfunc_t done, void* context) {
  if (done) done(PMIX_SUCCESS, data, bytes, context, nullptr, nullptr);
  return PMIX_SUCCESS;
}

// PMIx returns memory from malloc.
// NOLINTNEXTLINE(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
void release(void* memory) { std::free(memory); }

// Data that is passed to PMIx together.
class fact_list {
 public:
  fact_list() = default;
  ~fact_list() { PMIx_Info_list_release(list_); }
  fact_list(const fact_list&) = delete;
  fact_list& operator=(const fact_list&) = delete;

  void add(const char* key, const std::string& text) { add_value(key, text.c_str(), PMIX_STRING); }
  void add(const char* key, std::uint32_t number) { add_value(key, &number, PMIX_UINT32); }
  void add(const char* key, std::uint16_t number) { add_value(key, &number, PMIX_UINT16); }
  void add_rank(const char* key, pmix_rank_t rank) { add_value(key, &rank, PMIX_PROC_RANK); }
  void add_value(const char* key, const void* value, pmix_data_type_t type) {
    check(PMIx_Info_list_add(list_, key, value, type), "describe the job");
  }
  // Release the result with PMIX_DATA_ARRAY_DESTRUCT.
  [[nodiscard]] pmix_data_array_t converted() const {
    pmix_data_array_t array;
    PMIX_DATA_ARRAY_CONSTRUCT(&array, 0, PMIX_INFO);
    check(PMIx_Info_list_convert(list_, &array), "describe the job");
    return array;
  }

 private:
  void* list_ = PMIx_Info_list_start();
};

// The data of PE `rank`; all PEs are on one host and belong to one program.
void add_pe(fact_list& job, int rank, const std::string& host) {
  const auto as_rank = static_cast<pmix_rank_t>(rank);
  const auto local = static_cast<std::uint16_t>(rank);
  fact_list pe;
  pe.add_rank(PMIX_RANK, as_rank);
  pe.add_rank(PMIX_GLOBAL_RANK, as_rank);
  pe.add_rank(PMIX_APP_RANK, as_rank);
  pe.add(PMIX_APPNUM, std::uint32_t{0});
  pe.add(PMIX_LOCAL_RANK, local);
  pe.add(PMIX_NODE_RANK, local);
  pe.add(PMIX_NODEID, std::uint32_t{0});
  pe.add(PMIX_HOSTNAME, host);
  pmix_data_array_t facts = pe.converted();
  job.add_value(PMIX_PROC_DATA, &facts, PMIX_DATA_ARRAY);
  PMIX_DATA_ARRAY_DESTRUCT(&facts);
}

void register_job(int pes, const std::filesystem::path& folder) {
  const std::string host = host_name();
  std::string ranks;
  for (int rank = 0; rank < pes; ++rank) ranks += (rank ? "," : "") + std::to_string(rank);
  char* nodes = nullptr;
  char* mapping = nullptr;
  check(PMIx_generate_regex(host.c_str(), &nodes), "describe the job");
  check(PMIx_generate_ppn(ranks.c_str(), &mapping), "describe the job");

  fact_list job;
  job.add(PMIX_JOBID, server_state.job);
  for (const char* const key : {PMIX_UNIV_SIZE, PMIX_MAX_PROCS, PMIX_JOB_SIZE, PMIX_LOCAL_SIZE, PMIX_NODE_SIZE})
    job.add(key, static_cast<std::uint32_t>(pes));
  for (const char* const key : {PMIX_NUM_NODES, PMIX_JOB_NUM_APPS}) job.add(key, std::uint32_t{1});
  job.add_rank(PMIX_LOCALLDR, 0);
  job.add(PMIX_LOCAL_PEERS, ranks);
  job.add_value(PMIX_NODE_MAP, nodes, PMIX_REGEX);
  job.add_value(PMIX_PROC_MAP, mapping, PMIX_REGEX);
  for (const char* const key : {PMIX_TMPDIR, PMIX_NSDIR}) job.add(key, folder.string());
  release(nodes);
  release(mapping);
  for (int rank = 0; rank < pes; ++rank) add_pe(job, rank, host);
  pmix_data_array_t facts = job.converted();
  await("register the job", [&](pmix_op_cbfunc_t done, void* data) {
    return PMIx_server_register_nspace(server_state.job.c_str(), pes, static_cast<pmix_info_t*>(facts.array),
                                       facts.size, done, data);
  });
  PMIX_DATA_ARRAY_DESTRUCT(&facts);
}

}  // namespace

pmix_server::pmix_server(int pes, const std::filesystem::path& folder) {
  server_state.job = std::string(job_of_lull_launch) + std::to_string(getpid());
  server_state.event = open_event_fd();
  if (!server_state.event) throw error("start the PMIx server", describe_errno(errno));
  server_state.stages = std::make_unique<std::atomic<state::stage>[]>(static_cast<std::size_t>(pes));
  // PMIx's shared-memory store would leave files behind a killed launcher; a job on one host does not need it.
  setenv("PMIX_MCA_gds", "hash", 1);  // NOLINT(concurrency-mt-unsafe): before PMIx starts its thread

  static pmix_server_module_t module{};
  module.client_connected2 = on_connected;
  module.client_finalized = on_finalized;
  module.abort = on_abort;
  module.fence_nb = on_fence;
  pmix_info_t* info = nullptr;
  PMIX_INFO_CREATE(info, 2);
  PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, folder.c_str(), PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, folder.c_str(), PMIX_STRING);
  const pmix_status_t started = PMIx_server_init(&module, info, 2);
  PMIX_INFO_FREE(info, 2);
  check(started, "start the PMIx server");
  silence_event_library();
  register_job(pes, folder);
  for (int rank = 0; rank < pes; ++rank) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, server_state.job.c_str(), static_cast<pmix_rank_t>(rank));
    await("register a PE", [&](pmix_op_cbfunc_t done, void* data) {
      return PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, done, data);
    });
  }
}

void pmix_server::silence() {
  using close_stream = void (*)(int stream);
  void* const found = dlsym(RTLD_DEFAULT, "pmix_output_close");
  if (found != nullptr) reinterpret_cast<close_stream>(found)(0);  // the stream of its errors
}

std::vector<std::string> pmix_server::environment_for(int rank, std::vector<std::string> environment) const {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, server_state.job.c_str(), static_cast<pmix_rank_t>(rank));
  char** variables = nullptr;
  check(PMIx_server_setup_fork(&proc, &variables), "prepare a PE's environment");
  for (char** entry = variables; entry && *entry; ++entry) {
    set_variable(environment, *entry);
    release(*entry);
  }
  release(static_cast<void*>(variables));
  return environment;
}

int pmix_server::event_fd() const { return server_state.event.get(); }

void pmix_server::clear_event() { clear_event_fd(server_state.event.get()); }

namespace {

// Each of these calls is carried out by PMIx's thread, in a round of its loop, which also reads from all sockets that are
// readable by then. A message takes a round for its header, and one for the rest.
void wait_for_rounds() {
  constexpr int rounds = 8;
  pmix_proc_t me;
  PMIX_LOAD_PROCID(&me, server_state.job.c_str(), PMIX_RANK_WILDCARD);
  pmix_value_t number;
  PMIX_VALUE_CONSTRUCT(&number);
  number.type = PMIX_UINT32;
  for (int round = 0; round < rounds; ++round) {
    number.data.uint32 = static_cast<std::uint32_t>(round);
    (void)PMIx_Store_internal(&me, "lull.round", &number);
  }
}

}  // namespace

// When a PE ends without PMIx_Finalize while another begins, PMIx 4.2 may use a request that it has freed: its thread then
// waits for a lock in that memory, without end, and so would every call that waits for the thread.
void pmix_server::catch_up() {
  constexpr std::chrono::seconds longest{10};
  if (unresponsive_) return;
  const auto promise = std::make_shared<std::promise<void>>();
  const std::future<void> done = promise->get_future();
  try {
    std::thread([promise] {
      wait_for_rounds();
      promise->set_value();
    }).detach();
  } catch (const std::system_error&) {
    return;  // no more threads: PMIx's has most probably handled it by now
  }
  unresponsive_ = done.wait_for(longest) == std::future_status::timeout;
}

std::optional<int> pmix_server::abort_requested() const {
  return server_state.aborted ? std::optional{server_state.abort_code.load()} : std::nullopt;
}

std::optional<std::string> pmix_server::peer_lost() const {
  return server_state.peer_lost ? std::optional{server_state.lost_line} : std::nullopt;
}

bool pmix_server::ever_joined(int rank) const {
  return server_state.stages[static_cast<std::size_t>(rank)] != state::stage::outside;
}

bool pmix_server::left_in_order(int rank) const {
  return server_state.stages[static_cast<std::size_t>(rank)] != state::stage::inside;
}

}  // namespace lull::launch
