#include "common/json_text.h"

#include "common/checksum.h"
#include "common/error.h"

namespace winnow {
namespace {

constexpr std::string_view kOpening = "{\n";
constexpr std::string_view kStart = "{\n  \"digest\": \"";
constexpr std::string_view kEnd = "\",\n";
constexpr std::size_t kDigits = 32;

}  // namespace

std::string digest_of_json(std::string_view json) { return to_hex(xxh3_128(as_bytes(json))); }

std::string with_digest_line(std::string_view json) {
  if (!json.starts_with(kOpening)) {
    throw Error(
        "no line \"digest\" can be put into this text: it is not a JSON object that is indented");
  }
  return std::string(kStart) + digest_of_json(json) + std::string(kEnd) +
         std::string(json.substr(kOpening.size()));
}

std::string_view stated_digest(std::string_view text) noexcept {
  if (!text.starts_with(kStart)) return {};
  text.remove_prefix(kStart.size());
  const std::string_view stated = text.substr(0, kDigits);
  return text.substr(stated.size()).starts_with(kEnd) ? stated : std::string_view();
}

bool digest_line_matches(std::string_view text) {
  const std::string_view stated = stated_digest(text);
  if (stated.empty()) return false;
  text.remove_prefix(kStart.size() + stated.size() + kEnd.size());
  return digest_of_json(std::string(kOpening) + std::string(text)) == stated;
}

}  // namespace winnow
