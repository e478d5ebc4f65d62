#include "stage/files/messages.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/descriptor.hpp"

namespace lull::stage {
namespace {

// The mask of new files. umask() would change it for a moment, for all threads.
mode_t creation_mask() {
  constexpr std::string_view key = "\nUmask:\t";
  std::array<char, 512> text{};
  const descriptor status(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  const ssize_t got = status ? read(status.get(), text.data(), text.size()) : -1;
  const std::string_view known(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  unsigned mask = 022;
  if (const std::size_t at = known.find(key); at != std::string_view::npos)
    (void)std::from_chars(known.data() + at + key.size(), known.data() + known.size(), mask, 8);
  return mask;
}

}  // namespace

packet file_message(message what, std::uint64_t number, const staged_file& file, const std::string& mark) {
  packet made;
  const claim* const place = file.place();
  made.put(what).put(number).put(creation_mask()).put(mark).put(file.final_path());
  made.put(file.in_form()).put(file.together());
  made.put(place != nullptr ? place->which : file_identity{}).put(place != nullptr && place->created);
  made.put(file.order);
  return made;
}

write_order take_order(packet_reader& from) {
  write_order order{};
  order.number = from.take<std::uint64_t>();
  order.creation_mask = from.take<mode_t>();
  order.where.mark = from.take_text();
  order.where.path = from.take_text();
  order.what = from.take<form>();
  order.together = from.take_text();
  order.place.which = from.take<file_identity>();
  order.place.created = from.take<bool>();
  order.order = from.take<std::uint32_t>();
  return order;
}

packet answer_message(const answer& reply) {
  packet made;
  made.put(message::answer).put(reply.number).put(reply.what).put(reply.why);
  return made;
}

answer take_answer(packet_reader& from) {
  answer reply{};
  reply.number = from.take<std::uint64_t>();
  reply.what = from.take<answer::outcome>();
  reply.why = from.take_text();
  return reply;
}

packet kept_message(message what, std::uint64_t number) {
  packet made;
  made.put(what).put(number);
  return made;
}

packet leave_message(const client_figures& mine) {
  packet made;
  made.put(message::leave).put(mine);
  return made;
}

packet remark_message(remark what, std::uint64_t after) {
  packet made;
  made.put(message::remark).put(what).put(after);
  return made;
}

client_figures take_figures(packet_reader& from) { return from.take<client_figures>(); }

}  // namespace lull::stage
