// Requests with answers, behind lull/aggregate.hpp, which says what a gatherer promises.
//
// An exchange is two aggregations: one for requests, which handlers answer into the other. A gatherer keeps
// where each value goes; others (lull/aggregate_cache.hpp) do something else with what arrives.
#pragma once
#include <lull/aggregate.hpp>

#include <bit>
#include <memory>

namespace lull {

namespace detail {

// With everything that has to do with the route chosen; collective, because some of it may have to be measured.
LULL_API aggregate_options with_route(const aggregate_options& options, std::size_t item_bytes);
// The same for requests and answers, each with its share of the memory: the rest says where the values go.
struct answered_items {
  std::size_t request_bytes, usual_answer_bytes, least_answer_bytes;
};
struct answered_route {
  aggregate_options options;
  bool ordered;  // answers come from each PE in the order of the requests to it
};
LULL_API answered_route of_either_way(const aggregate_options& options, const answered_items& items);
constexpr std::size_t bytes_of_pending(std::size_t under_way) {
  return std::bit_ceil(under_way) * sizeof(std::uint32_t);
}
// From one PE to another, at most; where items have one hop.
LULL_API std::size_t items_under_way(const aggregation* a) noexcept;
// Of any size: the bytes that fit every buffer of the way.
LULL_API std::size_t largest_item(const aggregation* a) noexcept;

// Requests and their answers: get(request, pe, where) makes receive(where, value) run here some time before done()
// returns, with value = handle(request) computed on `pe`. Where the route has one hop between PEs, answers come in the
// order of the requests, so that neither needs to say whose it is; else both do. The same holds for what threads ask:
// requests of all threads to one PE are put into one order when they leave. A handler that returns a
// std::span<const std::byte> answers with these bytes, each time as many as it likes.
template <class Request, class Handler, class Receive>
class exchange {
 public:
  using value = std::remove_cvref_t<std::invoke_result_t<Handler&, const Request&>>;
  static constexpr bool of_any_size = std::is_same_v<value, std::span<const std::byte>>;
  static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<value>, "they travel as bytes");
  static constexpr std::size_t least_answer = of_any_size ? sizeof(std::uint32_t) : sizeof(value);
  static constexpr bool has_direct = requires(Handler & h, const Request& r) { h.direct(r, 0); };

  // `answer_bytes`: of a usual answer, for the choice of the route.
  exchange(Handler handler, Receive receive, const aggregate_options& options, std::size_t answer_bytes = sizeof(value))
      : handler_(std::move(handler)),
        receive_(std::move(receive)),
        answer_bytes_(answer_bytes),
        chosen_from_(options),
        way_(way_by(options)),
        answers_(for_answers()),
        requests_(for_requests()) {
    expect_answers();
    begin_phase();
  }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  void get(const Request& asked, int pe, std::uint32_t where) {
    if constexpr (has_direct)
      if (direct_left_ != 0) [[unlikely]] {
        receive_(where, handler_.direct(asked, pe));
        if (--direct_left_ == 0) leave_direct(requests_.aggregation());
        return;
      }
    if (way_.ordered) {
      requests_.template push_as<false>(asked, pe);  // before `where` is noted: it may wait, and others be answered
      pending& of_pe = expected_[static_cast<std::size_t>(pe)];
      of_pe.where[of_pe.asked++ & mask_] = where;
    } else {
      requests_.push(request{static_cast<std::uint32_t>(shmem_my_pe()), where, asked}, pe);
    }
  }
  // get() for make(i), 0 ≤ i < count, which gives a request and its PE; `where` of the i-th is first + i.
  template <class Make>
  void get_each(std::size_t count, std::uint32_t first, Make& make) {
    std::size_t done = 0;
    if (!way_.ordered || began_direct_)
      for (; done < count && (!way_.ordered || direct_left_ != 0); ++done) {
        const auto& [asked, pe] = make(done);
        get(asked, static_cast<int>(pe), first + static_cast<std::uint32_t>(done));
      }
    pending* const expected = expected_.data();
    const std::uint32_t mask = mask_;
    const auto note = [&](std::size_t i, int pe) {
      pending& of_pe = expected[pe];
      of_pe.where[of_pe.asked++ & mask] = first + static_cast<std::uint32_t>(done + i);
    };
    const auto rest = [&](std::size_t i) -> decltype(auto) { return make(done + i); };
    requests_.template push_each<Request>(count - done, rest, note);
  }
  void advance() { detail::advance(requests_.aggregation()); }
  void done() {
    if (began_direct_)
      finish_direct(requests_.aggregation(), direct_limit_ - direct_left_);
    else
      finish(requests_.aggregation());
    if (wants_other_route(requests_.aggregation())) [[unlikely]]
      change_route();
    begin_phase();
  }
  [[nodiscard]] Handler& handler() { return handler_; }
  // Items and their costs are those of the requests; buffers, bytes, hops and memory those of both ways.
  [[nodiscard]] aggregate_statistics statistics() const {
    aggregate_statistics now = statistics_of(requests_.aggregation());
    const aggregate_statistics back = statistics_of(answers_.aggregation());
    const auto both = static_cast<double>(now.buffers + back.buffers);
    if (both > 0)
      now.fill = (now.fill * static_cast<double>(now.buffers) + back.fill * static_cast<double>(back.buffers)) / both;
    now.hops += of_any_size ? 0 : back.hops;  // of answers of any size, bytes are counted
    now.buffers += back.buffers;
    now.bytes += back.bytes;
    now.remote_buffers += back.remote_buffers;
    now.remote_bytes += back.remote_bytes;
    now.memory_bytes += back.memory_bytes;
    now.memory_bytes += expected_.size() * (std::size_t{mask_} + 1) * sizeof(std::uint32_t);
    return now;
  }
  [[nodiscard]] requests_of_threads for_threads() const {
    if (!way_.options.getters)
      throw std::logic_error(
          "lull::gatherer::getter(): this gatherer was made for one thread; make it with aggregate_options::getters");
    return {requests_.aggregation(), way_.ordered};
  }
  // Of answers of any size: what fits a buffer, and the bytes that travel with each and its request.
  [[nodiscard]] std::size_t largest_answer() const {
    return largest_item(answers_.aggregation()) - (way_.ordered ? 0 : 4);
  }
  [[nodiscard]] std::size_t bytes_beside_answer() const {
    return way_.ordered ? sizeof(Request) + sizeof(std::uint32_t)
                        : sizeof(request) + 2 * address_bytes + 2 * sizeof(std::uint32_t);
  }

 private:
  [[nodiscard]] answered_route way_by(const aggregate_options& options) const {
    return of_either_way(options, {sizeof(Request), answer_bytes_, least_answer});
  }
  [[nodiscard]] aggregation_request for_answers() {
    return {of_any_size    ? 0
            : way_.ordered ? sizeof(value)
                           : sizeof(tagged_answer),
            &receive_batch<false>,
            &receive_batch<true>,
            this,
            &way_.options,
            nullptr,
            false};
  }
  [[nodiscard]] aggregation_request for_requests() {
    return {.item_bytes = way_.ordered ? sizeof(Request) : sizeof(request),
            .plain = &answer_batch<false>,
            .addressed = &answer_batch<true>,
            .handler = this,
            .options = &way_.options,
            .answers = answers_.aggregation(),
            .has_direct = has_direct,
            .plain_here = &answer_here<false>,
            .addressed_here = &answer_here<true>,
            .note_bytes = way_.ordered ? sizeof(noted_request<Request>) - sizeof(Request) : 0,
            .notes = &keep_notes,
            .chosen_from = &chosen_from_};
  }
  // Where the answers to what will be asked go: as many as can be under way.
  void expect_answers() {
    expected_.clear();
    if (!way_.ordered) return;
    // Of answers of any size bytes are under way.
    const std::size_t answers = items_under_way(answers_.aggregation()) / (of_any_size ? least_answer : 1);
    const std::size_t capacity = std::bit_ceil(items_under_way(requests_.aggregation()) + answers);
    mask_ = static_cast<std::uint32_t>(capacity - 1);
    expected_.resize(static_cast<std::size_t>(shmem_n_pes()));
    for (pending& of_pe : expected_) of_pe.where = std::make_unique_for_overwrite<std::uint32_t[]>(capacity);
  }
  // As channels::keep_to_best_route(), of both.
  void change_route() {
    const other_route options = other_route_of(requests_.aggregation(), chosen_from_);
    requests_.close();
    answers_.close();
    const auto open_by = [&](const aggregate_options& by) {
      way_ = way_by(by);
      answers_.open(for_answers());
      requests_.open(for_requests());
    };
    try {
      open_by(options.wanted);
    } catch (const std::bad_alloc&) {
      if (answers_.is_open()) answers_.close();
      requests_.stay_as_before();
      open_by(options.taken);
    }
    expect_answers();
  }

  using request = tagged_request<Request>;
  struct __attribute__((packed)) tagged_answer {
    std::uint32_t where;
    std::conditional_t<of_any_size, std::uint32_t, value> given;
  };
  // Written by whoever asks, and by whoever handles answers: with getters two threads, by atomic operations.
  struct pending {
    std::unique_ptr<std::uint32_t[]> where;  // of what was asked and is not answered, a ring of mask_ + 1
    std::uint32_t asked = 0, answered = 0;
  };
  // The answers of a batch take the places of `of_pe` that come next.
  class places {
   public:
    places(exchange& of, pending& of_pe)
        : of_pe_(of_pe),
          where_(of_pe.where.get()),
          mask_(of.mask_),
          next_(of_pe.answered),
          shared_(of.way_.options.getters) {
      if (shared_) (void)std::atomic_ref(of_pe.asked).load(std::memory_order_acquire);  // they have been noted
    }
    ~places() {
      if (shared_)
        std::atomic_ref(of_pe_.answered).store(next_, std::memory_order_release);
      else
        of_pe_.answered = next_;
    }
    places(const places&) = delete;
    places& operator=(const places&) = delete;
    std::uint32_t next() { return where_[next_++ & mask_]; }

   private:
    pending& of_pe_;
    const std::uint32_t* where_;
    std::uint32_t mask_, next_;
    bool shared_;
  };

  void begin_phase() {
    if constexpr (has_direct) {
      direct_limit_ = direct_left_ = direct_items(requests_.aggregation());
      began_direct_ = direct_limit_ != 0;
    }
  }

  template <bool Addressed>
  void answer_all(const batch& asked) {
    using codec = item_codec<Addressed>;
    if (!way_.ordered) {
      codec::template each<request>(asked, [&](const request& one) {
        const Request wanted = one.asked;
        if constexpr (of_any_size)
          answer_bytes(handler_(wanted), one.where, static_cast<int>(one.from));
        else
          answers_.push(tagged_answer{one.where, handler_(wanted)}, static_cast<int>(one.from));
      });
    } else if constexpr (of_any_size) {
      codec::template each<Request>(asked, [&](const Request& one) { answer_bytes(handler_(one), 0, asked.from); });
    } else {
      const std::byte* const items = asked.items;
      answers_.template push_run<value>(asked.count, asked.from, [&](std::size_t i) -> value {
        return handler_(codec::template get<Request>(items, i));
      });
    }
  }
  void answer_bytes(std::span<const std::byte> given, std::uint32_t where, int pe) {
    const std::size_t head = way_.ordered ? 0 : sizeof where;
    answers_.push_bytes(head + given.size(), pe, [&](std::byte* to) {
      if (head != 0) write(to, where);
      if (!given.empty()) std::memcpy(to + head, given.data(), given.size());
    });
  }
  template <bool Addressed>
  void receive_all(const batch& given) {
    using codec = item_codec<Addressed>;
    if (way_.ordered) {
      places to(*this, expected_[static_cast<std::size_t>(given.from)]);
      if constexpr (of_any_size)
        codec::each_of_any_size(given, [&](std::span<const std::byte> bytes) { receive_(to.next(), bytes); });
      else
        codec::template each<value>(given, [&](const value& one) { receive_(to.next(), one); });
    } else if constexpr (of_any_size) {
      codec::each_of_any_size(given, [&](std::span<const std::byte> bytes) {
        receive_(read<std::uint32_t>(bytes.data()), bytes.subspan(sizeof(std::uint32_t)));
      });
    } else {
      codec::template each<tagged_answer>(given, [&](const tagged_answer& one) {
        const value result = one.given;
        receive_(one.where, result);
      });
    }
  }
  // Requests of this PE's own threads: the values need not travel.
  template <bool Addressed>
  static void answer_here(void* self, const batch& asked) {
    exchange& me = *static_cast<exchange*>(self);
    const auto answer = [&](const auto& one) {
      const Request wanted = one.asked;
      me.receive_(one.where, me.handler_(wanted));
    };
    if (me.way_.ordered)
      item_codec<Addressed>::template each<noted_request<Request>>(asked, answer);
    else
      item_codec<Addressed>::template each<request>(asked, answer);
  }
  // Of one thread at a time: its requests are the next for `pe`.
  static void keep_notes(void* self, const std::byte* noted, std::size_t count, int pe, std::byte* to) {
    exchange& me = *static_cast<exchange*>(self);
    pending& of_pe = me.expected_[static_cast<std::size_t>(pe)];
    (void)std::atomic_ref(of_pe.answered).load(std::memory_order_acquire);  // what is overwritten has been read
    std::uint32_t next = of_pe.asked;
    for (std::size_t i = 0; i < count; ++i) {
      const auto one = read<noted_request<Request>>(noted + i * sizeof(noted_request<Request>));
      of_pe.where[next++ & me.mask_] = one.where;
      write<Request>(to + i * sizeof(Request), one.asked);
    }
    std::atomic_ref(of_pe.asked).store(next, std::memory_order_release);
  }
  template <bool Addressed>
  static void answer_batch(void* self, const batch& asked) {
    static_cast<exchange*>(self)->template answer_all<Addressed>(asked);
  }
  template <bool Addressed>
  static void receive_batch(void* self, const batch& given) {
    static_cast<exchange*>(self)->template receive_all<Addressed>(given);
  }

  Handler handler_;
  Receive receive_;
  std::uint64_t direct_left_ = 0, direct_limit_ = 0;
  bool began_direct_ = false;
  std::size_t answer_bytes_;
  aggregate_options chosen_from_;
  answered_route way_;
  std::uint32_t mask_ = 0;
  std::vector<pending> expected_;  // by PE
  channels answers_, requests_;    // in this order: requests wake answers
};

}  // namespace detail

template <class Request, class Handler>
class gatherer {
 public:
  using value = std::remove_cvref_t<std::invoke_result_t<Handler&, const Request&>>;
  static_assert(!std::is_same_v<value, std::span<const std::byte>>, "values have one size");

  gatherer(items_of<Request>, Handler handler, const aggregate_options& options = {})
      : exchange_(std::move(handler), {&into_}, options) {}
  gatherer(const gatherer&) = delete;
  gatherer& operator=(const gatherer&) = delete;

  // Where the values of this phase go, at most 2^32; they are there when done() has returned.
  void into(std::span<value> values) {
    into_ = values.data();
    asked_ = 0;
  }
  // Asks `pe` for handler(request); the k-th call since into() fills the k-th value.
  void get(const Request& request, int pe) { exchange_.get(request, pe, asked_++); }

  // The same `count` times: make(i), 0 ≤ i < count, is called once for each, in order, and returns something that
  // decomposes into a request and its PE.
  template <class Make>
  void get_each(std::size_t count, Make&& make) {
    exchange_.get_each(count, asked_, make);
    asked_ += static_cast<std::uint32_t>(count);
  }
  // For a thread of this PE, whose k-th get fills values[first + k]; needs options.getters.
  [[nodiscard]] lull::getter<Request> getter(std::size_t first) {
    return lull::getter<Request>(exchange_.for_threads(), static_cast<std::uint32_t>(first));
  }
  void advance() { exchange_.advance(); }
  void done() { exchange_.done(); }

  [[nodiscard]] aggregate_statistics statistics() const { return exchange_.statistics(); }
  [[nodiscard]] Handler& handler() { return exchange_.handler(); }

 private:
  struct store {
    value* const* into;
    void operator()(std::uint32_t where, const value& given) const { (*into)[where] = given; }
  };
  value* into_ = nullptr;
  std::uint32_t asked_ = 0;
  detail::exchange<Request, Handler, store> exchange_;
};

}  // namespace lull
