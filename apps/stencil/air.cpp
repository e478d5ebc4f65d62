#include "air.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

namespace stencil {
namespace {

constexpr float mixing = 0.05F;       // of the difference to a neighbour, per step
constexpr double fastest_wind = 0.4;  // cells per step

double some_arithmetic(double value, std::uint64_t rounds) {
  for (std::uint64_t i = 0; i < rounds; ++i) value = std::fma(value, 0.999999, 1e-6);
  return value;
}

// The inflow across a border with this wind and mixing, from `before` to `here`.
inline float flux(float wind, float before, float here) {
  return (wind > 0 ? wind * before : wind * here) + mixing * (before - here);
}

}  // namespace

air::air(grid& where, double cell_ns, bool asleep) : grid_(where) {
  const auto cells = grid_.cells();
  const auto all = grid_.all_cells();
  const auto origin = grid_.origin();
  for (int z = 0; z < cells[2]; ++z) {
    const double height = std::numbers::pi * z / cells[2];
    wind_x_.push_back(static_cast<float>(fastest_wind * std::cos(height)));
    wind_y_.push_back(static_cast<float>(fastest_wind * std::sin(height)));
  }
  now_.assign(quantity_names.size(), std::vector<float>(grid_.volume()));
  for (std::size_t q = 0; q < now_.size(); ++q) {
    // A cloud of each quantity, in different places.
    const double angle = 2 * std::numbers::pi * static_cast<double>(q) / static_cast<double>(now_.size());
    const std::array centre{all[0] * (0.5 + 0.3 * std::cos(angle)), all[1] * (0.5 + 0.3 * std::sin(angle))};
    for (int z = 0; z < cells[2]; ++z)
      for (int y = 0; y < cells[1]; ++y)
        for (int x = 0; x < cells[0]; ++x) {
          const double dx = (origin[0] + x - centre[0]) / all[0], dy = (origin[1] + y - centre[1]) / all[1];
          now_[q][grid_.at(x, y, z)] = static_cast<float>(std::exp(-30 * (dx * dx + dy * dy)));
        }
  }
  next_ = now_;
  exchange();
  if (asleep)
    asleep_s_ = cell_ns * 1e-9 * cells_here();
  else
    measure(cell_ns);
}

// Takes the minimum of several measurements, so that all processes spend the same time whatever other load their cores
// had.
void air::measure(double cell_ns) {
  double of_step = 1e30, of_round = 1e30;
  constexpr std::uint64_t rounds = 200'000;
  for (int i = 0; i < 5; ++i) {
    double begin = MPI_Wtime();
    carry();
    of_step = std::min(of_step, (MPI_Wtime() - begin) * 1e9 / cells_here());
    begin = MPI_Wtime();
    spent_ = some_arithmetic(spent_, rounds);
    of_round = std::min(of_round, (MPI_Wtime() - begin) * 1e9 / rounds);
  }
  std::array least{of_step, of_round};
  MPI_Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_DOUBLE, MPI_MIN, grid_.comm());
  if (cell_ns > least[0]) rounds_ = static_cast<std::uint64_t>((cell_ns - least[0]) / least[1]);
}

double air::cells_here() const {
  const auto cells = grid_.cells();
  return static_cast<double>(cells[0]) * cells[1] * cells[2];
}

void air::carry() {
  const auto [nx, ny, nz] = grid_.cells();
  const std::size_t row = grid_.row(), layer = grid_.layer();
  for (std::size_t q = 0; q < now_.size(); ++q)
    for (int z = 0; z < nz; ++z) {
      const float wind_x = wind_x_[static_cast<std::size_t>(z)], wind_y = wind_y_[static_cast<std::size_t>(z)];
      const bool ground = z == 0, top = z == nz - 1;
      for (int y = 0; y < ny; ++y) {
        const float* const here = now_[q].data() + grid_.at(0, y, z);
        const float* const below = ground ? here : here - layer;
        const float* const above = top ? here : here + layer;
        float* const into = next_[q].data() + grid_.at(0, y, z);
        for (int x = 0; x < nx; ++x) {
          const float value = here[x];
          into[x] = value + flux(wind_x, here[x - 1], value) - flux(wind_x, value, here[x + 1]) +
                    flux(wind_y, here[x - static_cast<std::ptrdiff_t>(row)], value) -
                    flux(wind_y, value, here[x + static_cast<std::ptrdiff_t>(row)]) +
                    mixing * (below[x] + above[x] - 2 * value);
        }
      }
    }
}

void air::spend() { spent_ = some_arithmetic(spent_, rounds_ * static_cast<std::uint64_t>(cells_here())); }

void air::step() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(asleep_s_);
  carry();
  if (asleep_s_ > 0)
    std::this_thread::sleep_until(end);
  else
    spend();
  now_.swap(next_);
}

std::vector<std::uint8_t> air::cloudy() const {
  const auto [nx, ny, nz] = grid_.cells();
  const std::vector<float>& vapour = now_[5];
  std::vector<std::uint8_t> found;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) found.push_back(vapour[grid_.at(x, y, z)] > 0.5F);
  return found;
}

double air::sum(std::size_t quantity) const {
  const auto [nx, ny, nz] = grid_.cells();
  double mine = 0;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) mine += static_cast<double>(now_[quantity][grid_.at(x, y, z)]);
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid_.comm());
  return all;
}

}  // namespace stencil
