#include "netsim/goal/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "netsim/goal/synchronous_sends.hpp"
#include "netsim/program/collective.hpp"

namespace lull::netsim {
namespace {

using op = operation::kind;

// More collectives of a group than this are never in progress at the same time; the same tags serve again.
constexpr std::uint32_t collectives_apart = 64;

// In place of the number of a collective: the messages of synchronous sends.
constexpr std::uint32_t asks = any, answers = any - 1, answered = any - 2;

// A synchronous send asks however short it is; one longer than the default of `eager` asks in any case.
constexpr std::uint64_t usual_eager = 8192;

// A file that appears under its name when it is complete.
class new_file {
 public:
  new_file(std::string path, std::string asked)
      : path_(std::move(path)),
        partial_(path_ + ".partial"),
        asked_(std::move(asked)),
        to_(partial_, std::ios::binary) {
    if (!to_) failed(errno);
  }
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;
  ~new_file() {
    std::error_code ignored;
    if (!done_) std::filesystem::remove(partial_, ignored);
  }

  fmt::memory_buffer& text() { return text_; }
  void write_out(std::size_t from = 0) {
    if (text_.size() < from) return;
    to_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
    if (!to_) failed(errno);
  }
  void finish() {
    write_out();
    to_.close();
    if (!to_) failed(errno);
    std::error_code code;
    std::filesystem::rename(partial_, path_, code);
    if (code) throw error(asked_, fmt::format("cannot write {}: {}", path_, code.message()));
    done_ = true;
  }

 private:
  [[noreturn]] void failed(int code) const {
    throw error(asked_, fmt::format("cannot write {}: {}", path_, describe_errno(code)), "name another file");
  }

  const std::string path_, partial_, asked_;
  std::ofstream to_;
  fmt::memory_buffer text_;
  bool done_ = false;
};

// Tags of messages in communicators and collectives: each pair of a context and a tag in it has its own.
class own_tags {
 public:
  std::uint32_t of(std::uint64_t context, std::uint32_t tag) {
    if (context == 0 && tag < first_own_tag) return tag;
    const auto next = first_own_tag + static_cast<std::uint32_t>(known_.size());
    return known_.try_emplace(pair{context, tag}, next).first->second;
  }

 private:
  struct pair {
    std::uint64_t context;
    std::uint32_t tag;
    bool operator==(const pair&) const = default;
  };
  struct hash {
    std::size_t operator()(const pair& p) const {
      return std::hash<std::uint64_t>{}((p.context * 0x9e3779b97f4a7c15U) ^ p.tag);
    }
  };
  std::unordered_map<pair, std::uint32_t, hash> known_;
};

// On what the next operation of a sequence depends.
struct dependency {
  std::uint64_t label;
  bool on_begin;
};
using dependencies = std::vector<dependency>;

// Ranks in a communicator, and the context of its messages.
struct surroundings {
  std::span<const std::uint32_t> members;  // empty: ranks of the job
  std::uint64_t context;
  unsigned cpu;
  [[nodiscard]] std::uint32_t rank_in_job(std::uint32_t peer) const { return members.empty() ? peer : members[peer]; }
};

class rank_writer {
 public:
  struct shared {
    const program& of;
    std::uint32_t ranks;
    const std::string& asked;
    new_file& file;
    own_tags tags;
    synchronous_sends synchronous;
    goal_written counted;
  };
  rank_writer(shared& with, std::uint32_t rank) : with_(with), rank_(rank) {}

  void write() {
    const nothing_is_complete done;
    stream todo = with_.of.of(rank_, done);
    fmt::format_to(out(), "rank {} {{\n", rank_);
    sequence own;
    while (const operation* o = todo.next()) {
      if (o->what == op::iteration)
        ++with_.counted.iterations;
      else if (o->what == op::collective)
        take_part(*o, own);
      else
        simple(*o, {.members = {}, .context = std::uint64_t{o->group} << 32U, .cpu = 0}, own);
      with_.file.write_out(1 << 20);
    }
    fmt::format_to(out(), "}}\n");
  }

 private:
  [[nodiscard]] std::back_insert_iterator<fmt::memory_buffer> out() { return std::back_inserter(with_.file.text()); }
  // A program that asks gets the answer of one whose messages take long.
  struct nothing_is_complete final : completions {
    [[nodiscard]] bool complete(std::uint32_t /*request*/) const override { return false; }
  };
  struct sequence {
    dependencies next;                                     // of the next operation
    std::unordered_map<std::uint32_t, dependencies> ends;  // of the requests that were not waited for
  };

  template <class... Args>
  void emit(sequence& in, std::uint32_t request, fmt::format_string<Args...> text, Args&&... args) {
    const std::uint64_t label = ++labels_;
    fmt::format_to(out(), "l{}: ", label);
    fmt::format_to(out(), text, std::forward<Args>(args)...);
    fmt::format_to(out(), "\n");
    for (const dependency& d : in.next)
      fmt::format_to(out(), "l{} {} l{}\n", label, d.on_begin ? "irequires" : "requires", d.label);
    const bool blocks = request == no_request;
    in.next.assign(1, {.label = label, .on_begin = !blocks});
    if (!blocks) in.ends[request].assign(1, {.label = label, .on_begin = false});
    ++with_.counted.operations;
  }

  void simple(const operation& o, const surroundings& around, sequence& in) {
    const std::uint32_t tag = with_.tags.of(around.context, o.tag);
    const auto cpu = around.cpu == 0 ? std::string() : fmt::format(" cpu {}", around.cpu);
    switch (o.what) {
      case op::compute:
        if (o.duration > 0) emit(in, no_request, "calc {}{}", (o.duration + 500) / 1000, cpu);
        return;
      case op::synchronous_send:
      case op::send:
        if (of_program(around) && with_.synchronous.next_send({rank_, o.peer, o.group, o.tag}))
          return ask_and_send(o, in);
        return emit(in, o.request, "send {}b to {} tag {}{}", o.bytes, around.rank_in_job(o.peer), tag, cpu);
      case op::receive: {
        if (o.tag == any) rejected("receives any tag", "name the tag; GOAL has no communicators");
        if (of_program(around) && with_.synchronous.next_receive({o.peer, rank_, o.group, o.tag}))
          return answer_and_receive(o, in);
        const std::string from = o.peer == any ? "-1" : fmt::format("{}", around.rank_in_job(o.peer));
        return emit(in, o.request, "recv {}b from {} tag {}{}", o.bytes, from, tag, cpu);
      }
      case op::wait:
        return wait(o.request, in);
      case op::wait_any:
        rejected("continues when any of its requests is complete", "simulate the program itself");
      default:
        rejected("puts, gets or changes data of other processes", "GOAL has only messages; simulate the trace itself");
    }
  }

  [[nodiscard]] static bool of_program(const surroundings& around) {
    return static_cast<std::uint32_t>(around.context) == 0;
  }

  // A synchronous send: a request, the answer of the receive that takes it, and the message.
  void ask_and_send(const operation& o, sequence& in) {
    sequence inner{.next = in.next, .ends = {}};
    emit(inner, 0, "send 0b to {} tag {}", o.peer, tag_of(o, asks));
    const dependencies begun = inner.next;
    emit(inner, no_request, "recv 0b from {} tag {}{}", o.peer, tag_of(o, answers), cpu_of(o));
    emit(inner, no_request, "send {}b to {} tag {}{}", o.bytes, o.peer, tag_of(o, answered), cpu_of(o));
    ends_with(o.request, begun, inner.next, in);
  }

  void answer_and_receive(const operation& o, sequence& in) {
    sequence inner{.next = in.next, .ends = {}};
    emit(inner, 0, "recv 0b from {} tag {}", o.peer, tag_of(o, asks));
    const dependencies begun = inner.next;
    wait(0, inner);
    emit(inner, 1, "send 0b to {} tag {}{}", o.peer, tag_of(o, answers), cpu_of(o));
    emit(inner, no_request, "recv {}b from {} tag {}{}", o.bytes, o.peer, tag_of(o, answered), cpu_of(o));
    ends_with(o.request, begun, inner.next, in);
  }

  [[nodiscard]] std::uint32_t tag_of(const operation& o, std::uint32_t part) {
    return with_.tags.of(std::uint64_t{o.group} << 32U | part, o.tag);
  }
  [[nodiscard]] static const char* cpu_of(const operation& o) { return o.request == no_request ? "" : " cpu 1"; }

  // Several operations that the program began as one: what follows depends on `begun` if they do not block.
  static void ends_with(std::uint32_t request, const dependencies& begun, const dependencies& ended, sequence& in) {
    in.next = request == no_request ? ended : begun;
    if (request != no_request) in.ends[request] = ended;
  }

  static void wait(std::uint32_t request, sequence& in) {
    const auto found = in.ends.find(request);
    if (found == in.ends.end()) return;
    in.next.insert(in.next.end(), found->second.begin(), found->second.end());
    in.ends.erase(found);
  }

  void take_part(const operation& o, sequence& own) {
    const bool blocks = o.request == no_request;
    const auto members = o.group == everybody ? std::span<const std::uint32_t>{} : with_.of.group(o.group);
    const auto place_of = [&](std::uint32_t rank) {
      if (o.group == everybody) return rank;
      return static_cast<std::uint32_t>(std::ranges::find(members, rank) - members.begin());
    };
    const collective_call call{.rank = place_of(rank_),
                               .size = o.group == everybody ? with_.ranks : static_cast<std::uint32_t>(members.size()),
                               .root = has_root(o.which) ? place_of(o.peer) : 0,
                               .bytes = o.bytes};
    if (call.rank >= call.size || call.root >= call.size)
      rejected(fmt::format("or the root is not in the group {} of a {}", o.group, trace::name_of(o.which)), "");
    const std::uint32_t number = calls_[o.group]++ % collectives_apart + 1;
    const surroundings around{
        .members = members, .context = std::uint64_t{o.group} << 32U | number, .cpu = blocks ? 0U : 1U};
    sequence inner{.next = own.next, .ends = {}};
    stream todo = schedule_by_rules(o.which, call);
    while (const operation* step = todo.next()) simple(*step, around, inner);
    ends_with(o.request, dependencies(own.next), inner.next, own);
  }

  [[noreturn]] void rejected(const std::string& found, const std::string& fix) const {
    throw error(with_.asked, fmt::format("rank {} {}", rank_, found), fix);
  }

  shared& with_;
  const std::uint32_t rank_;
  std::uint64_t labels_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> calls_;  // of collectives, by group
};

}  // namespace

goal_written write_goal(const program& of, std::uint32_t ranks, const std::string& path, const std::string& asked,
                        const goal_writing_progress& progress) {
  new_file file(path, asked);
  rank_writer::shared with{.of = of,
                           .ranks = ranks,
                           .asked = asked,
                           .file = file,
                           .tags = {},
                           .synchronous = {of, ranks, usual_eager},
                           .counted = {}};
  fmt::format_to(std::back_inserter(file.text()), "num_ranks {}\n", ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    rank_writer(with, rank).write();
    if (progress && !progress(rank + std::uint64_t{1}, ranks)) throw error(asked, "stopped");
  }
  file.finish();
  return with.counted;
}

}  // namespace lull::netsim
