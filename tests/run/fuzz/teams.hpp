// Teams split and destroyed at random, and collectives over several of them, against what every PE can compute.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "fuzz/dice.hpp"

namespace fuzz {

class teams {
 public:
  explicit teams(situation& s)
      : s_(s), source_(symmetric<long>(words * slices)), target_(symmetric<long>(words * slices)) {
    std::vector<int> all;
    for (int pe = 0; pe < s.r.pes; ++pe) all.push_back(pe);
    known_.push_back({SHMEM_TEAM_WORLD, all});
  }
  teams(const teams&) = delete;
  teams& operator=(const teams&) = delete;
  ~teams() {
    while (known_.size() > 1) destroy(known_.size() - 1);
    shmem_free(target_);
    shmem_free(source_);
  }

  void change(dice& d) {
    s_.subject = "teams";
    for (int i = 0; i < 3; ++i) {
      if (known_.size() > 1 && d.chance(known_.size() > 8 ? 80 : 30))
        destroy(1 + d.below(known_.size() - 1));
      else if (d.chance(60))
        split_strided(d);
      else
        split_2d(d);
    }
    shmem_barrier_all();
  }

  // Collectives over several teams, one after the other, each in its own part of memory.
  void act(dice& d) {
    s_.subject = "collectives";
    std::fill(target_, target_ + words * slices, untouched);
    shmem_barrier_all();
    for (std::size_t slice = 0; slice < slices; ++slice) {
      const known& team = known_[d.below(known_.size())];
      const call c{.what = static_cast<kind>(d.below(static_cast<int>(kinds))),
                   .n = d.chance(80) ? d.below(std::size_t{20}) : d.below(words / team.pes.size() / 3 + 1),
                   .root = d.below(static_cast<int>(team.pes.size())),
                   .seed = d.next(),
                   .from = source_ + slice * words,
                   .to = target_ + slice * words};
      if (team.handle != SHMEM_TEAM_INVALID) perform(team, c);
    }
    shmem_barrier_all();
  }

  // Members of all teams load and store directly what they share with others; a barrier comes between.
  void share(dice& d) {
    s_.subject = "shared memory of teams";
    const std::uint64_t seed = d.next();
    const std::size_t at = d.below(words - static_cast<std::size_t>(s_.r.pes) - 2);
    const auto value = [&](int pe) { return static_cast<long>(seed >> 8U) + pe; };
    source_[at] = value(s_.r.me);
    shmem_barrier_all();
    for (const known& team : known_) {
      if (team.handle == SHMEM_TEAM_INVALID) continue;
      for (std::size_t i = 0; i < team.pes.size(); ++i) {
        const auto* const there = static_cast<long*>(shmem_team_ptr(team.handle, source_ + at, static_cast<int>(i)));
        EXPECT(s_, there == shmem_ptr(source_ + at, team.pes[i]));
        if (team.pes[i] == s_.r.me) EXPECT(s_, there == source_ + at);
        if (there) EXPECT(s_, *there == value(team.pes[i]));
      }
    }
    for (int pe = 0; pe < s_.r.pes; ++pe)  // a word of each PE in the memory of each PE
      if (auto* const there = static_cast<long*>(shmem_team_ptr(SHMEM_TEAM_WORLD, source_ + at + 1 + s_.r.me, pe)))
        *there = value(pe) * 3 + s_.r.me;
      else
        shmem_long_p(source_ + at + 1 + s_.r.me, value(pe) * 3 + s_.r.me, pe);
    shmem_barrier_all();
    for (int pe = 0; pe < s_.r.pes; ++pe)
      EXPECT(s_, source_[at + 1 + static_cast<std::size_t>(pe)] == value(s_.r.me) * 3 + pe);
    shmem_barrier_all();
  }

 private:
  static constexpr std::size_t words = 12'000, slices = 6;
  static constexpr long untouched = -77;
  enum kind {
    sync,
    broadcast,
    collect,
    fcollect,
    alltoall,
    alltoalls,
    sum,
    in_place,
    least,
    bits,
    doubles,
    bytes,
    scan,
    scan_in_place,
    scan_doubles,
    scan_bytes,
    kinds
  };
  struct known {
    shmem_team_t handle;  // invalid if this PE is no member
    std::vector<int> pes;
  };
  struct call {
    kind what;
    std::size_t n;
    int root;
    std::uint64_t seed;
    long *from, *to;
    [[nodiscard]] bool inclusive() const { return seed % 2 == 0; }  // of a scan
  };

  void add(shmem_team_t handle, std::vector<int> pes) {
    const auto found = std::ranges::find(pes, s_.r.me);
    EXPECT(s_, (handle != SHMEM_TEAM_INVALID) == (found != pes.end()));
    if (handle != SHMEM_TEAM_INVALID) {
      EXPECT(s_, shmem_team_n_pes(handle) == static_cast<int>(pes.size()));
      EXPECT(s_, shmem_team_my_pe(handle) == found - pes.begin());
      for (std::size_t i = 0; i < pes.size(); ++i)
        EXPECT(s_, shmem_team_translate_pe(handle, static_cast<int>(i), SHMEM_TEAM_WORLD) == pes[i]);
    }
    known_.push_back({handle, std::move(pes)});
  }

  void split_strided(dice& d) {
    const known parent = known_[d.below(known_.size())];
    const int size = static_cast<int>(parent.pes.size());
    const int start = d.below(size), stride = (1 + d.below(3)) * (d.chance(30) ? -1 : 1);
    const int room = stride > 0 ? (size - 1 - start) / stride + 1 : start / -stride + 1;
    std::vector<int> pes(static_cast<std::size_t>(1 + d.below(room)));
    for (std::size_t i = 0; i < pes.size(); ++i)
      pes[i] = parent.pes[static_cast<std::size_t>(start + static_cast<int>(i) * stride)];
    shmem_team_t made = SHMEM_TEAM_INVALID;
    if (parent.handle != SHMEM_TEAM_INVALID)
      EXPECT(s_, shmem_team_split_strided(parent.handle, start, stride, static_cast<int>(pes.size()), nullptr, 0,
                                          &made) == 0);
    add(made, std::move(pes));
  }

  void split_2d(dice& d) {
    const known parent = known_[d.below(known_.size())];
    const int size = static_cast<int>(parent.pes.size());
    const int width = 1 + d.below(size);
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    if (parent.handle != SHMEM_TEAM_INVALID)
      EXPECT(s_, shmem_team_split_2d(parent.handle, width, nullptr, 0, &row, nullptr, 0, &column) == 0);
    const int me = static_cast<int>(std::ranges::find(parent.pes, s_.r.me) - parent.pes.begin());
    std::vector<std::vector<int>> rows(static_cast<std::size_t>((size + width - 1) / width)),
        columns(static_cast<std::size_t>(width));
    for (int i = 0; i < size; ++i) {
      rows[static_cast<std::size_t>(i / width)].push_back(parent.pes[static_cast<std::size_t>(i)]);
      columns[static_cast<std::size_t>(i % width)].push_back(parent.pes[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < static_cast<int>(rows.size()); ++i)
      add(me < size && me / width == i ? row : SHMEM_TEAM_INVALID, rows[static_cast<std::size_t>(i)]);
    for (int i = 0; i < width; ++i)
      add(me < size && me % width == i ? column : SHMEM_TEAM_INVALID, columns[static_cast<std::size_t>(i)]);
  }

  void destroy(std::size_t which) {
    shmem_team_destroy(known_[which].handle);
    known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  // The contribution of member `index` at place i: small, so that sums are exact in every type.
  [[nodiscard]] static long given(const call& c, std::size_t index, std::size_t i) {
    return static_cast<long>(dice(c.seed ^ (index * 1'000'003 + i)).next() % 100);
  }
  // For collect: the number of elements of a member.
  [[nodiscard]] static std::size_t share(const call& c, std::size_t index) {
    return c.n == 0 ? 0 : (c.seed >> index % 32) % c.n;
  }

  void perform(const known& team, const call& c) {
    const auto me = static_cast<std::size_t>(shmem_team_my_pe(team.handle));
    const std::size_t size = team.pes.size();
    const shmem_team_t t = team.handle;
    const bool each = c.what == alltoall || c.what == alltoalls;  // a block for each member
    const std::size_t mine = each ? c.n * size : c.n;
    for (std::size_t i = 0; i < mine; ++i) c.from[i] = given(c, me, i);
    std::vector<long> expected;
    const auto reduced = [&](auto&& combine) {
      for (std::size_t i = 0; i < c.n; ++i) {
        long value = given(c, 0, i);
        for (std::size_t index = 1; index < size; ++index) value = combine(value, given(c, index, i));
        expected.push_back(value);
      }
    };
    const auto plus = [](long a, long b) { return a + b; };
    int status = 0;
    switch (c.what) {
      case sync:
        status = shmem_team_sync(t);
        break;
      case broadcast:
        status = shmem_long_broadcast(t, c.to, c.from, c.n, c.root);
        for (std::size_t i = 0; i < c.n; ++i) expected.push_back(given(c, static_cast<std::size_t>(c.root), i));
        break;
      case collect:
        status = shmem_long_collect(t, c.to, c.from, share(c, me));
        for (std::size_t index = 0; index < size; ++index)
          for (std::size_t i = 0; i < share(c, index); ++i) expected.push_back(given(c, index, i));
        break;
      case fcollect:
        status = shmem_fcollectmem(t, c.to, c.from, c.n * sizeof(long));
        for (std::size_t index = 0; index < size; ++index)
          for (std::size_t i = 0; i < c.n; ++i) expected.push_back(given(c, index, i));
        break;
      case alltoall:
        status = shmem_long_alltoall(t, c.to, c.from, c.n);
        for (std::size_t index = 0; index < size; ++index)
          for (std::size_t i = 0; i < c.n; ++i) expected.push_back(given(c, index, me * c.n + i));
        break;
      case alltoalls:
        status = shmem_long_alltoalls(t, c.to, c.from, 2, 1, c.n);
        for (std::size_t index = 0; index < size; ++index)
          for (std::size_t i = 0; i < c.n; ++i) {
            expected.push_back(given(c, index, me * c.n + i));
            expected.push_back(untouched);
          }
        break;
      case in_place:
        std::copy(c.from, c.from + c.n, c.to);
        status = shmem_long_sum_reduce(t, c.to, c.to, c.n);
        reduced(plus);
        break;
      case least:
        status = shmem_long_min_reduce(t, c.to, c.from, c.n);
        reduced([](long a, long b) { return std::min(a, b); });
        break;
      case bits:
        status = shmem_long_xor_reduce(t, c.to, c.from, c.n);
        reduced([](long a, long b) { return a ^ b; });
        break;
      case sum:
        status = shmem_long_sum_reduce(t, c.to, c.from, c.n);
        reduced(plus);
        break;
      case scan:
      case scan_in_place: {
        long* const from = c.what == scan ? c.from : c.to;
        if (c.what == scan_in_place) std::copy(c.from, c.from + c.n, c.to);
        status = c.inclusive() ? shmem_long_sum_inscan(t, c.to, from, c.n) : shmem_long_sum_exscan(t, c.to, from, c.n);
        for (std::size_t i = 0; i < c.n; ++i) expected.push_back(sum_up_to(c, me, i));
        break;
      }
      case scan_doubles:
        return scan_typed<double>(t, c, me, shmem_double_sum_inscan, shmem_double_sum_exscan);
      case scan_bytes:  // the sums wrap around
        return scan_typed<std::uint8_t>(t, c, me, shmem_uint8_sum_inscan, shmem_uint8_sum_exscan);
      case doubles:
        return reduce_doubles(t, c, size);
      default:
        return reduce_bytes(t, c, size);
    }
    EXPECT(s_, status == 0);
    EXPECT(s_, std::equal(expected.begin(), expected.end(), c.to));
    EXPECT(s_, c.to[expected.size()] == untouched);
  }

  void reduce_doubles(shmem_team_t t, const call& c, std::size_t size) {
    auto* const from = reinterpret_cast<double*>(c.from);
    auto* const to = reinterpret_cast<double*>(c.to);
    for (std::size_t i = 0; i < c.n; ++i) from[i] = static_cast<double>(c.from[i]);
    EXPECT(s_, shmem_double_sum_reduce(t, to, from, c.n) == 0);
    for (std::size_t i = 0; i < c.n; ++i) {
      long expected = 0;
      for (std::size_t index = 0; index < size; ++index) expected += given(c, index, i);
      EXPECT(s_, to[i] == static_cast<double>(expected));
    }
  }

  void reduce_bytes(shmem_team_t t, const call& c, std::size_t size) {
    auto* const from = reinterpret_cast<std::uint8_t*>(c.from);
    auto* const to = reinterpret_cast<std::uint8_t*>(c.to);
    for (std::size_t i = 0; i < c.n; ++i) from[i] = static_cast<std::uint8_t>(c.from[i]);
    EXPECT(s_, shmem_uint8_max_reduce(t, to, from, c.n) == 0);
    for (std::size_t i = 0; i < c.n; ++i) {
      long expected = 0;
      for (std::size_t index = 0; index < size; ++index) expected = std::max(expected, given(c, index, i));
      EXPECT(s_, to[i] == static_cast<std::uint8_t>(expected));
    }
  }

  // The sum of the contributions of the members before `me`, and of that of `me` if the scan is inclusive.
  [[nodiscard]] static long sum_up_to(const call& c, std::size_t me, std::size_t i) {
    long sum = 0;
    for (std::size_t index = 0; index < me + (c.inclusive() ? 1 : 0); ++index) sum += given(c, index, i);
    return sum;
  }

  template <class T>
  using scanner = int(shmem_team_t, T*, const T*, std::size_t);
  template <class T>
  void scan_typed(shmem_team_t t, const call& c, std::size_t me, scanner<T>* inscan, scanner<T>* exscan) {
    auto* const from = reinterpret_cast<T*>(c.from);
    auto* const to = reinterpret_cast<T*>(c.to);
    for (std::size_t i = 0; i < c.n; ++i) from[i] = static_cast<T>(c.from[i]);
    EXPECT(s_, (c.inclusive() ? inscan : exscan)(t, to, from, c.n) == 0);
    for (std::size_t i = 0; i < c.n; ++i) EXPECT(s_, to[i] == static_cast<T>(sum_up_to(c, me, i)));
    for (std::size_t i = 0; i < c.n; ++i) EXPECT(s_, from[i] == static_cast<T>(given(c, me, i)));
  }

  situation& s_;
  long *source_, *target_;
  std::vector<known> known_;
};

}  // namespace fuzz
