#include "app/plan/network.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"

namespace winnow::app {
namespace {

constexpr const char* kFormat = "winnow-network";
constexpr int kVersion = 1;

using Units = std::initializer_list<std::pair<std::string_view, double>>;

// A number with one of `units`, multiplied by the unit.
std::optional<double> quantity(std::string_view text, const Units& units) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number <= 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, factor] : units) {
    if (unit == name) return number * factor;
  }
  return std::nullopt;
}

comm::LinkCost link_of(const JsonReader& reader) {
  const auto processor = reader.find("processor_s_per_byte");  // older files do not have it
  return {.latency_s = reader.at("latency_s").real(0, 3600),
          .message_s = reader.at("message_s").real(0, 3600),
          .seconds_per_byte = reader.at("seconds_per_byte").real(0, 1),
          .processor_s_per_byte = processor ? processor->real(0, 1) : 0};
}

}  // namespace

comm::NetworkModel parse_network(std::string_view text, double add_seconds_per_byte) {
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos) {
    const auto bits =
        quantity(text.substr(0, comma), {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}});
    const auto latency =
        quantity(text.substr(comma + 1), {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}});
    if (bits && latency) {
      const comm::LinkCost link{.latency_s = *latency, .seconds_per_byte = 8 / *bits};
      return {.between = link, .inside = link, .add_seconds_per_byte = add_seconds_per_byte};
    }
  }
  throw UsageError("--network " + std::string(text) +
                   " is neither a rate and a latency, as 10gbit,20us, nor a file of winnow bench "
                   "allreduce --write that is there");
}

Json to_json(const comm::LinkCost& link) {
  return {{"latency_s", link.latency_s},
          {"message_s", link.message_s},
          {"seconds_per_byte", link.seconds_per_byte},
          {"processor_s_per_byte", link.processor_s_per_byte}};
}

std::string network_text(const comm::NetworkModel& network, int ranks, int machines) {
  const Json json{{"format", kFormat},
                  {"version", kVersion},
                  {"ranks", ranks},
                  {"machines", machines},
                  {"between", to_json(network.between)},
                  {"inside", to_json(network.inside)},
                  {"add_seconds_per_byte", network.add_seconds_per_byte},
                  {"cards", network.cards},
                  {"longest_message", network.longest_message}};
  return json.dump(1) + "\n";
}

comm::NetworkModel read_network_text(const std::string& text, const std::string& where) {
  const JsonReader reader(text, {.name = where});
  if (reader.at("format").text() != kFormat) {
    throw FormatError(where + " is no network that winnow bench allreduce --write made");
  }
  if (const auto version = reader.at("version").integer(0, 1'000'000); version != kVersion) {
    throw FormatError(where + " is of version " + std::to_string(version) +
                      ", this winnow reads version " + std::to_string(kVersion));
  }
  return {.between = link_of(reader.at("between")),
          .inside = link_of(reader.at("inside")),
          .add_seconds_per_byte = reader.at("add_seconds_per_byte").real(0, 1),
          .cards = static_cast<int>(reader.at("cards").integer(1, 1024)),
          .longest_message = static_cast<std::size_t>(
              reader.at("longest_message").integer(0, std::int64_t{1} << 40))};
}

}  // namespace winnow::app
