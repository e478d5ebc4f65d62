// triangles: counts the triangles of an undirected graph that is distributed over all PEs.
//
// For each pair of vertices v and w above a vertex, v below w, the owner of v determines whether v and w are joined:
// `--mode direct` looks it up by gets from a hash table there; the other modes push the question into an aggregator.
// Each triangle is found once, from its lowest vertex. The number is verified against `--expect`, or against the known
// one if no file is given. Time and energy are those of the region "wedges"; metrics go into the record of the run
// (`lull measure -- lull run -n 4 triangles --input graph.mtx`).
#include <fmt/format.h>
#include <lull/meter.h>
#include <shmem.h>

#include <atomic>
#include <cstdint>
#include <lull/aggregate.hpp>
#include <optional>
#include <string>

#include "irregular/measurement.hpp"
#include "irregular/program.hpp"
#include "irregular/reduction.hpp"
#include "irregular/thread_pool.hpp"
#include "triangles/edge_file.hpp"
#include "triangles/edge_table.hpp"
#include "triangles/graph.hpp"
#include "triangles/options.hpp"
#include "triangles/ring.hpp"

namespace {

using std::uint64_t;
using triangles::edge_table;
using triangles::graph;
using triangles::home;
using triangles::options;
using triangles::question;

// Counts found edges on the PE that answers the question.
struct answer {
  const edge_table* edges;
  uint64_t* found;
  void operator()(const question& asked) const { *found += edges->has(asked); }
  void direct(const question& asked, int pe) const { *found += edges->has_on(asked, pe); }
};
using questions = lull::aggregator<question, answer>;

// Calls ask(question, pe) for each wedge whose lowest vertex is here and has a number from `begin` to `end`.
template <class Ask>
void pass(const graph& of, std::size_t begin, std::size_t end, const Ask& ask) {
  const auto pes = static_cast<std::uint32_t>(shmem_n_pes());
  for (std::size_t vertex = begin; vertex < end; ++vertex) {
    const auto above = of.above(vertex);
    for (std::size_t i = 0; i < above.size(); ++i) {
      const home v = triangles::home_of(above[i], pes);
      for (const std::uint32_t w : above.subspan(i + 1)) ask(question{v.number, w}, static_cast<int>(v.pe));
    }
  }
}

uint64_t wedges_of(const graph& of) {
  uint64_t count = 0;
  for (std::size_t vertex = 0; vertex < of.vertices_here(); ++vertex) {
    const uint64_t above = of.above(vertex).size();
    count += above * (above - 1) / 2 * (above != 0);
  }
  return count;
}

// The graph, and the number of its triangles if it is known.
struct task {
  graph of;
  std::optional<uint64_t> expected;
};

task read(const options& wanted, irregular::reduction& all) {
  triangles::edge_file file(wanted.input);
  return {graph(file, all), wanted.expect};
}

task make(const options& wanted, irregular::reduction& all) {
  const auto pes = static_cast<uint64_t>(shmem_n_pes());
  const uint64_t vertices = wanted.vertices * wanted.threads * pes, reach = wanted.degree / 2;
  if (wanted.degree % 2 != 0)
    throw irregular::usage_error(
        fmt::format("--degree {}: half of the neighbours are on each side; give an even number", wanted.degree));
  if (vertices <= 3 * reach)
    throw irregular::usage_error(
        fmt::format("a ring of {} vertices with {} neighbours each: at least {} vertices are needed; raise --vertices",
                    vertices, wanted.degree, 3 * reach + 1));
  if (vertices > triangles::most_vertices)
    throw irregular::usage_error(
        fmt::format("a graph of {} vertices: at most 2^32 - 1 are possible; lower --vertices", vertices));
  triangles::ring ring(vertices, reach, wanted.seed);
  return {graph(ring, all), ring.triangles()};
}

std::string verdict(uint64_t counted, const std::optional<uint64_t>& expected) {
  if (!expected) return "not verified; --expect N verifies the result";
  return counted == *expected ? "verified" : fmt::format("WRONG: {} triangles were expected", *expected);
}

int run(const options& wanted) {
  irregular::reduction all;
  irregular::thread_pool threads(wanted.threads);
  const auto [graph, expected] = wanted.input.empty() ? make(wanted, all) : read(wanted, all);
  const edge_table edges(graph, all);
  uint64_t found = 0;
  std::optional<questions> asked;
  if (!wanted.direct()) asked.emplace(lull::items_of<question>{}, answer{&edges, &found}, wanted.policy());

  const auto passes_of = [&, &of = graph](uint64_t passes, irregular::stopwatch& watch) {
    watch.start();
    for (uint64_t i = 0; i < passes; ++i) {
      threads.share(of.vertices_here(), [&](unsigned, std::size_t begin, std::size_t end) {
        if (!asked) {
          uint64_t mine = 0;
          pass(of, begin, end, [&](const question& q, int pe) { mine += edges.has_on(q, pe); });
          std::atomic_ref(found).fetch_add(mine, std::memory_order_relaxed);
        } else if (threads.size() == 1) {
          pass(of, begin, end, [&](const question& q, int pe) { asked->push(q, pe); });
        } else {
          auto mine = asked->pusher();
          pass(of, begin, end, [&](const question& q, int pe) { mine.push(q, pe); });
        }
      });
      if (asked) asked->done();
    }
    watch.stop();
  };
  const uint64_t passes = irregular::passes_for(wanted.min_time, passes_of, all);
  found = 0;
  shmem_barrier_all();
  const auto before = asked ? asked->statistics() : lull::aggregate_statistics{};
  irregular::stopwatch watch("wedges");
  passes_of(passes, watch);
  const std::string aggregation = asked ? irregular::told(before, asked->statistics(), all) : "";

  const uint64_t triangles = all.sum(found) / passes;
  const std::string result = all.sum(found) % passes == 0 ? verdict(triangles, expected) : "WRONG: the passes differ";
  irregular::report({.program = "triangles",
                     .item = "wedge",
                     .items = wedges_of(graph) * passes,
                     .where = fmt::format("of {} vertices and {} edges", graph.vertices(), graph.edges()),
                     .found = fmt::format("{} triangle{}", triangles, triangles == 1 ? "" : "s"),
                     .result = result},
                    wanted, watch, aggregation, all);
  if (shmem_my_pe() == 0) lull_metric_sum("triangles", static_cast<double>(triangles), "1");
  return result.starts_with("WRONG") ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return irregular::run_program("triangles", "Triangles: counts those of an undirected graph.", argc, argv,
                                triangles::add_options, run);
}
