#include "model/choices/handing_over.hpp"

#include <algorithm>

#include "base/counters.hpp"

namespace lull::model {
namespace {

constexpr auto hand_over = static_cast<std::size_t>(output_turn::hand_over);
constexpr auto write_yourself = static_cast<std::size_t>(output_turn::write_yourself);

double own_per_byte(const machine& on) { return 1 / on.output.writer_bytes_per_s; }
double copied_per_byte(const machine& on) { return 1 / on.output.copy_bytes_per_s; }

// A file takes long enough: the first look that finds the other alternative better switches to it.
correction_rules by_file(const machine& on) {
  correction_rules rules = on.correction;
  rules.looks_to_switch = 1;
  return rules;
}

}  // namespace

// Without space, a file waits until the server has written as much.
handing_over::situation handing_over::without_room(const machine& on) {
  return {{corrected_term(copied_per_byte(on) + own_per_byte(on), on.correction)},
          steady_choice(write_yourself, by_file(on))};
}

handing_over::situation handing_over::with_room(const machine& on) {
  const bool pays = copied_per_byte(on) <= own_per_byte(on);
  return {{corrected_term(copied_per_byte(on), on.correction)},
          steady_choice(pays ? hand_over : write_yourself, by_file(on))};
}

handing_over::handing_over(const machine& on)
    : costs_(on.output),
      corrects_(!on.correction.off),
      own_{corrected_term(own_per_byte(on), on.correction)},
      by_room_{without_room(on), with_room(on)} {}

output_turn handing_over::next(bool room) {
  situation& here = by_room_[room ? 1 : 0];
  const auto turn = [&](std::size_t way) {
    if (way == write_yourself) wrote_with_room_ = room;
    return static_cast<output_turn>(way);
  };
  if (!corrects_) return turn(here.way.taken());
  if (room && !here.handing.tried) return turn(hand_over);
  if (!own_.tried) return turn(room ? hand_over : write_yourself);
  if (!here.handing.tried) return turn(hand_over);

  const std::size_t before = here.way.taken();
  const std::array costs{here.handing.per_byte.value(), own_.per_byte.value()};
  const std::size_t now = here.way.look(costs), other = 1 - now;
  if (now == before) {
    ++here.since_trial;
    here.spent_per_byte += costs[now];
    if (here.since_trial < costs_.fewest_between_trials ||
        costs[other] - costs[now] > costs_.trial_share * here.spent_per_byte)
      return turn(now);
    (other == hand_over ? here.handing : own_).per_byte.forget();
  }
  here.since_trial = 0;
  here.spent_per_byte = 0;
  return turn(now == before ? other : now);
}

void handing_over::handed_over(bool had_room, double seconds, double bytes) {
  situation& there = by_room_[had_room ? 1 : 0];
  learn(there.handing, there.done.ways[hand_over], seconds, bytes);
}

void handing_over::wrote_itself(double seconds, double bytes) {
  learn(own_, by_room_[wrote_with_room_ ? 1 : 0].done.ways[write_yourself], seconds, bytes);
}

void handing_over::learn(cost& of, output_turns::way& done, double seconds, double bytes) const {
  ++done.files;
  done.seconds += seconds;
  done.bytes += bytes;
  if (bytes < costs_.least_telling_bytes) return;
  of.per_byte.saw(seconds / bytes);
  of.tried = true;
}

output_turns handing_over::turns_of(const situation& one) const {
  output_turns turns = one.done;
  const double bytes = turns.ways[0].bytes + turns.ways[1].bytes;
  for (const std::size_t way : {hand_over, write_yourself}) {
    const corrected_term& cost = (way == hand_over ? one.handing : own_).per_byte;
    turns.ways[way].predicted_s = bytes * cost.predicted();
    turns.ways[way].corrected_s = bytes * cost.value();
  }
  turns.switches = one.way.switches();
  return turns;
}

output_turns& output_turns::operator+=(const output_turns& other) { return add_fields(*this, other); }
output_turns_by_room& output_turns_by_room::operator+=(const output_turns_by_room& other) {
  return add_fields(*this, other);
}

// Costs are those of a file of the overall mean size.
std::vector<choice_account> accounts_of(const output_turns_by_room& all, int clients) {
  constexpr double ns_per_s = 1e9;
  std::vector<choice_account> accounts;
  for (const bool room : {false, true}) {
    const output_turns& turns = room ? all.with : all.without;
    const auto files = static_cast<double>(turns.ways[0].files + turns.ways[1].files);
    if (files == 0) continue;
    const double bytes_of_file = (turns.ways[0].bytes + turns.ways[1].bytes) / files;
    const auto alternative = [&](const char* name, const output_turns::way& way) {
      alternative_account one{.name = name,
                              .predicted_ns = ns_per_s * way.predicted_s / files,
                              .corrected_ns = ns_per_s * way.corrected_s / files,
                              .operations = way.files};
      if (way.bytes > 0) one.observed_ns = ns_per_s * way.seconds / way.bytes * bytes_of_file;
      return one;
    };
    accounts.push_back({.choice = "hand-over",
                        .where = room ? "with room" : "without room",
                        .per = "file",
                        .processes = clients,
                        .switches = turns.switches,
                        .alternatives = {alternative("hand over", turns.ways[hand_over]),
                                         alternative("write it itself", turns.ways[write_yourself])}});
  }
  return accounts;
}

}  // namespace lull::model
