#include "common/health/message.h"

#include <algorithm>
#include <cmath>

#include "common/checksum.h"

namespace winnow::health {
namespace {

constexpr std::string_view kMagic = "WNH1";

// The single list of a message's fields, for writing and reading.
template <class Fields, class Visit>
void visit_numbers(Fields& s, const Visit& visit) {
  visit(s.rank);
  visit(s.step);
  visit(s.marks);
  visit(s.added_ms);
  visit(s.collectives);
  visit(s.exchanges);
  visit(s.io_kib);
  visit(s.cpu);
  visit(s.delayed);
  visit(s.seconds.step);
  visit(s.seconds.work);
  visit(s.seconds.batch);
  visit(s.seconds.exchange);
  visit(s.bucket);
  visit(s.exit_code);
}

bool is_amount(float value) { return std::isfinite(value) && value >= 0; }

bool makes_sense(const Status& s, int ranks) {
  const StepSeconds& t = s.seconds;
  return s.rank >= 0 && s.rank < ranks && s.step >= 0 && is_amount(s.cpu) && is_amount(s.delayed) &&
         is_amount(t.step) && is_amount(t.work) && is_amount(t.batch) && is_amount(t.exchange);
}

}  // namespace

Bytes encode(const Status& status, const JobSecret& secret) {
  ByteWriter out;
  out.put_text(kMagic);
  out.put_bytes(secret);
  visit_numbers(status, [&](auto value) { out.put(value); });
  out.put(static_cast<std::uint8_t>(status.stage));
  out.put(static_cast<std::uint8_t>(status.wait));
  out.put(static_cast<std::uint8_t>(status.awaits_data ? 1 : 0));
  out.put(static_cast<std::uint8_t>(status.is_first_step ? 1 : 0));
  out.pad_to(4);
  out.put(xxh3_64(out.bytes()));
  return std::move(out).take();
}

std::optional<Status> decode(BytesView message, const JobSecret& secret, int ranks) {
  if (message.size() != kMessageBytes) return std::nullopt;
  ByteReader in(message, "a heartbeat");
  if (as_text(in.get_bytes(kMagic.size())) != kMagic) return std::nullopt;
  if (!std::ranges::equal(in.get_bytes(secret.size()), secret)) return std::nullopt;
  std::uint64_t sum = 0;
  const BytesView all = message.first(kMessageBytes - sizeof(sum));
  std::memcpy(&sum, message.last(sizeof(sum)).data(), sizeof(sum));
  if (sum != xxh3_64(all)) return std::nullopt;
  Status status;
  visit_numbers(status,
                [&](auto& value) { value = in.get<std::remove_reference_t<decltype(value)>>(); });
  const auto stage = in.get<std::uint8_t>();
  const auto wait = in.get<std::uint8_t>();
  const auto awaits = in.get<std::uint8_t>();
  const auto first = in.get<std::uint8_t>();
  if (stage >= kStages || wait >= kWaits || awaits > 1 || first > 1) return std::nullopt;
  status.stage = static_cast<Stage>(stage);
  status.wait = static_cast<Wait>(wait);
  status.awaits_data = awaits == 1;
  status.is_first_step = first == 1;
  return makes_sense(status, ranks) ? std::optional(status) : std::nullopt;
}

}  // namespace winnow::health
