#include "tests/common/vectors.h"

#include <charconv>
#include <filesystem>
#include <string>

#include "common/bytes.h"
#include "common/file.h"

namespace winnow::test {

std::vector<JsonReader> vectors(std::string_view file, std::string_view table) {
  const std::string path = (std::filesystem::path(WINNOW_VECTORS) / file).string() + ".json";
  const Bytes bytes = read_file(path);
  const JsonReader rows = JsonReader(as_text(bytes), {path}).at(table);
  std::vector<JsonReader> items = rows.items();
  if (items.empty()) rows.fail("has no rows");
  return items;
}

std::vector<double> reals(const JsonReader& list) {
  std::vector<double> out;
  for (const JsonReader& item : list.items()) out.push_back(item.real());
  return out;
}

std::uint64_t hash_of(const JsonReader& digits) {
  const std::string text = digits.text();
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != 16 || error != std::errc() || end != text.data() + text.size()) {
    digits.fail("is not 16 hexadecimal digits");
  }
  return hash;
}

}  // namespace winnow::test
