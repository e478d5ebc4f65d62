// Energy on the wire, derived (wire.hpp) from the octets that Slingshot network cards count, including RDMA.
//
// /sys/class/cxi/cxiN/device/telemetry/hni_sts_{tx,rx}_ok_octets contain "<number>@<seconds>.<nanoseconds>", with the
// time of the card's reading. The counters have 56 bits, enough for 33 days at 25 GB/s; two of them are added modulo
// 2^56, which wraps like each of them. Octets include the framing of the link layer, so they exceed the program's
// bytes. (HPE's shs-cxi-driver, sysfs-class-cxi.)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/error.hpp"
#include "meter/parts/device_clock.hpp"
#include "meter/sources/wire.hpp"

namespace lull::meter {
namespace {

constexpr std::uint64_t end_of_counter = std::uint64_t{1} << 56U;
// Ten times the traffic of a current card in both directions; distinguishes a wrap from a reset.
constexpr double most_bytes_per_second = 10 * 50e9;
constexpr std::int64_t slack_ns = 1'000'000'000;

struct telemetry {
  number_read octets;
  std::int64_t stamp_ns = 0;
};

telemetry read_telemetry(held_file& file) {
  std::array<char, 96> buffer;
  const auto [filled, error] = file.read(buffer);
  if (error != 0) return {{0, error}};
  telemetry result;
  std::int64_t whole = 0, fraction = 0;
  const char* const end = filled.data() + filled.size();
  const auto octets = std::from_chars(filled.data(), end, result.octets.number);
  if (octets.ec != std::errc{} || octets.ptr == end || *octets.ptr != '@') return {{0, EBADMSG}};
  const auto at = std::from_chars(octets.ptr + 1, end, whole);
  if (at.ec != std::errc{} || at.ptr == end || *at.ptr != '.') return {{0, EBADMSG}};
  if (std::from_chars(at.ptr + 1, end, fraction).ec != std::errc{}) return {{0, EBADMSG}};
  result.stamp_ns = whole * 1'000'000'000 + fraction;
  return result;
}

struct card {
  std::string name;
  std::string folder;
  held_file sent, received;
  device_clock clock;
};

std::vector<card> find_cards(const sysroot& root, const wires& chosen) {
  std::vector<card> cards;
  for (const std::string& name : chosen.cxi) {
    const std::string folder = fmt::format("{}/{}/device/telemetry", cxi_folder, name);
    cards.push_back({.name = name,
                     .folder = folder,
                     .sent = held_file(root, folder + "/hni_sts_tx_ok_octets"),
                     .received = held_file(root, folder + "/hni_sts_rx_ok_octets"),
                     .clock = {}});
  }
  return cards;
}

availability state_of(const wires& chosen, std::vector<card>& cards) {
  if (cards.empty())
    return {false, chosen.named ? "LULL_WIRE_INTERFACES names no cxi device" : "there is no cxi device here", ""};
  for (card& c : cards)
    for (held_file* file : {&c.sent, &c.received})
      if (const int error = read_telemetry(*file).octets.error)
        return {false, fmt::format("{}: {}", file->path(), describe_errno(error)), ""};
  return {true, "", ""};
}

source_description describe(const sysroot& root, const wires& chosen, const wire_model& model,
                            std::vector<card>& cards) {
  source_description result{.name = "cxi",
                            .kind = kind::derived,
                            .unit = "bytes",
                            .interval = seconds{0},
                            .range = cards.empty() ? "" : fmt::format("wraps at {} bytes", end_of_counter),
                            .permission = "none",
                            .channels = {},
                            .state = state_of(chosen, cards)};
  for (const card& c : cards)
    add_wire(
        result, model, c.name, root.locate(c.folder) + "/hni_sts_{tx,rx}_ok_octets, link framing included",
        {.range = end_of_counter, .max_per_second = most_bytes_per_second, .slack_ns = slack_ns, .may_rest = true});
  return result;
}

class cxi final : public source {
 public:
  cxi(const sysroot& root, const wires& chosen, const wire_model& model, std::vector<card> cards)
      : source(describe(root, chosen, model, cards)), root_(root), model_(model), cards_(std::move(cards)) {}

  void read(std::span<reading> into) override {
    for (std::size_t i = 0; i < cards_.size(); ++i) into[2 * i] = into[2 * i + 1] = read(cards_[i]);
  }

 private:
  reading read(card& c) const {
    const telemetry sent = read_telemetry(c.sent);
    const telemetry received = read_telemetry(c.received);
    const std::int64_t now = root_.now();
    if (const int error = sent.octets.error != 0 ? sent.octets.error : received.octets.error)
      return {.value = {}, .error = error, .time_ns = now};
    const std::uint64_t counted = model_.counted(sent.octets.number, received.octets.number) % end_of_counter;
    return {.value = counted, .error = 0, .time_ns = c.clock.at(std::max(sent.stamp_ns, received.stamp_ns), now)};
  }

  sysroot root_;
  wire_model model_;
  std::vector<card> cards_;
};

}  // namespace

std::unique_ptr<source> make_cxi(const sysroot& root) {
  const wires chosen = find_wires(root);
  return std::make_unique<cxi>(root, chosen, read_wire_model(), find_cards(root, chosen));
}

}  // namespace lull::meter
