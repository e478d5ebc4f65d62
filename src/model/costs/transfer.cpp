#include "model/costs/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace lull::model {
namespace {

constexpr std::size_t fewest_sizes = 3;  // per piece
constexpr double noise = 0.01;           // smaller relative errors do not justify another piece
constexpr std::array series{&transfer_observation::one_way_ns, &transfer_observation::send_ns,
                            &transfer_observation::receive_ns, &transfer_observation::gap_ns};
constexpr std::size_t parameters = 2 * series.size() + 1;  // of a piece: its lines, and where it begins

using round_view = std::span<const transfer_observation>;

struct line {
  double begin = 0, slope = 0;
  [[nodiscard]] double at(double bytes) const { return begin + slope * bytes; }
};

// Least squares of relative errors, with neither part negative. An observation of 0 has no relative error; it is
// weighted like the smallest other one.
line line_through(round_view seen, double transfer_observation::*of) {
  double least = std::numeric_limits<double>::infinity();
  for (const transfer_observation& one : seen)
    if (one.*of > 0) least = std::min(least, one.*of);
  if (std::isinf(least)) return {};
  double s = 0, sx = 0, sy = 0;
  for (const transfer_observation& one : seen) {
    const double y = one.*of, w = 1 / std::max(y, least) / std::max(y, least);
    s += w, sx += w * one.bytes, sy += w * y;
  }
  const double mean_x = sx / s, mean_y = sy / s;
  double sxx = 0, sxy = 0, from_zero_xx = 0, from_zero_xy = 0;
  for (const transfer_observation& one : seen) {
    const double y = one.*of, w = 1 / std::max(y, least) / std::max(y, least);
    sxx += w * (one.bytes - mean_x) * (one.bytes - mean_x);
    sxy += w * (one.bytes - mean_x) * (y - mean_y);
    from_zero_xx += w * one.bytes * one.bytes;
    from_zero_xy += w * one.bytes * y;
  }
  const double slope = sxx > 0 ? sxy / sxx : 0;
  if (slope <= 0) return {mean_y, 0};
  const double begin = mean_y - slope * mean_x;
  // Treats a rounding error as zero.
  if (begin < 1e-12 * mean_y) return {0, from_zero_xy / from_zero_xx};
  return {begin, slope};
}

using lines = std::array<line, series.size()>;
lines lines_through(round_view seen) {
  lines found;
  for (std::size_t i = 0; i < series.size(); ++i) found[i] = line_through(seen, series[i]);
  return found;
}

double relative_error(const line& fitted, double bytes, double observed) {
  return observed > 0 ? (fitted.at(bytes) - observed) / observed : 0;
}

// Sum over all series.
double squared_error(round_view seen, const lines& fitted) {
  double sum = 0;
  for (const transfer_observation& one : seen)
    for (std::size_t i = 0; i < series.size(); ++i)
      sum += std::pow(relative_error(fitted[i], one.bytes, one.*series[i]), 2);
  return sum;
}

// Where the pieces begin: the best division for each number of pieces, and of these the one with the lowest cost.
std::vector<std::size_t> divided(round_view seen, std::size_t most_pieces) {
  const std::size_t sizes = seen.size();
  constexpr double never = std::numeric_limits<double>::infinity();
  struct best {
    double error = never;
    std::size_t begin = 0;  // of the last piece
  };
  // at[p][n]: the first n sizes in p + 1 pieces.
  std::vector<std::vector<best>> at(most_pieces, std::vector<best>(sizes + 1));
  for (std::size_t n = std::min(fewest_sizes, sizes); n <= sizes; ++n)
    for (std::size_t begin = 0; begin == 0 || begin + fewest_sizes <= n; ++begin) {
      const round_view part = seen.subspan(begin, n - begin);
      const double error = squared_error(part, lines_through(part));
      if (begin == 0) at[0][n] = {error, 0};
      for (std::size_t p = 1; p < most_pieces && begin > 0; ++p)
        if (const double all = at[p - 1][begin].error + error; all < at[p][n].error) at[p][n] = {all, begin};
    }
  const auto count = static_cast<double>(sizes * series.size());
  std::size_t chosen = 0;
  double least = never;
  for (std::size_t p = 0; p < most_pieces; ++p) {
    const double error = at[p][sizes].error;
    if (std::isinf(error)) continue;
    const double cost =
        count * std::log(error / count + noise * noise) + static_cast<double>((p + 1) * parameters) * std::log(count);
    if (cost < least) least = cost, chosen = p;
  }
  std::vector<std::size_t> begins;
  for (std::size_t p = chosen, n = sizes;; --p) {
    begins.insert(begins.begin(), at[p][n].begin);
    n = at[p][n].begin;
    if (p == 0) return begins;
  }
}

transfer_terms terms_from(const lines& fitted) {
  const auto& [one_way, send, receive, gap] = fitted;
  return {.latency_ns = std::max(0.0, one_way.begin - send.begin - receive.begin),
          .send_ns = send.begin,
          .receive_ns = receive.begin,
          .gap_ns = gap.begin,
          .ns_per_byte = gap.slope,
          .alone_ns_per_byte = one_way.slope,
          .send_ns_per_byte = send.slope,
          .receive_ns_per_byte = receive.slope};
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<transfer_observation> medians_of(std::span<const std::vector<transfer_observation>> rounds) {
  std::vector<transfer_observation> medians = rounds.front();
  std::vector<double> values(rounds.size());
  for (std::size_t size = 0; size < medians.size(); ++size)
    for (const auto of : series) {
      std::ranges::transform(rounds, values.begin(), [&](const auto& round) { return round[size].*of; });
      medians[size].*of = quantile(values, 0.5);
    }
  return medians;
}

constexpr std::array all_terms{&transfer_terms::latency_ns,       &transfer_terms::send_ns,
                               &transfer_terms::receive_ns,       &transfer_terms::gap_ns,
                               &transfer_terms::ns_per_byte,      &transfer_terms::alone_ns_per_byte,
                               &transfer_terms::send_ns_per_byte, &transfer_terms::receive_ns_per_byte};

}  // namespace

const transfer_terms& terms_of(const transfer_pieces& pieces, double bytes) {
  auto piece = pieces.begin();
  while (std::next(piece) != pieces.end() && std::next(piece)->from_bytes <= bytes) ++piece;
  return piece->terms;
}

double one_way_ns(const transfer_pieces& pieces, double bytes) {
  const transfer_terms& t = terms_of(pieces, bytes);
  return t.send_ns + t.latency_ns + t.receive_ns + bytes * t.alone_ns_per_byte;
}

double stream_ns(const transfer_pieces& pieces, double bytes, double messages) {
  const transfer_terms& t = terms_of(pieces, bytes);
  return one_way_ns(pieces, bytes) + std::max(0.0, messages - 1) * (t.gap_ns + bytes * t.ns_per_byte);
}

double send_cpu_ns(const transfer_pieces& pieces, double bytes) {
  const transfer_terms& t = terms_of(pieces, bytes);
  return t.send_ns + bytes * t.send_ns_per_byte;
}

double receive_cpu_ns(const transfer_pieces& pieces, double bytes) {
  const transfer_terms& t = terms_of(pieces, bytes);
  return t.receive_ns + bytes * t.receive_ns_per_byte;
}

std::vector<fitted_piece> fit_transfer(std::span<const std::vector<transfer_observation>> rounds,
                                       std::size_t most_pieces) {
  const std::vector<transfer_observation> medians = medians_of(rounds);
  std::vector<std::size_t> begins = divided(medians, std::max<std::size_t>(most_pieces, 1));
  begins.push_back(medians.size());
  std::vector<fitted_piece> found;
  for (std::size_t p = 0; p + 1 < begins.size(); ++p) {
    const std::size_t first = begins[p], count = begins[p + 1] - first;
    const round_view part = round_view(medians).subspan(first, count);
    const lines fitted = lines_through(part);
    fitted_piece piece{
        .from_bytes = p == 0 ? 0 : part.front().bytes, .terms = terms_from(fitted), .low = {}, .high = {}};
    for (const transfer_observation& one : part)
      for (std::size_t i = 0; i < series.size(); ++i)
        piece.worst_error = std::max(piece.worst_error, std::abs(relative_error(fitted[i], one.bytes, one.*series[i])));
    std::vector<transfer_terms> of_rounds;
    for (const auto& round : rounds)
      of_rounds.push_back(terms_from(lines_through(round_view(round).subspan(first, count))));
    std::vector<double> values(of_rounds.size());
    for (const auto term : all_terms) {
      std::ranges::transform(of_rounds, values.begin(), term);
      piece.low.*term = std::min(quantile(values, 0.25), piece.terms.*term);
      piece.high.*term = std::max(quantile(values, 0.75), piece.terms.*term);
    }
    found.push_back(piece);
  }
  return found;
}

}  // namespace lull::model
