// Parsers of common/: JSON, CSV, names, LMDB's pages.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/csv.h"
#include "common/json_reader.h"
#include "common/json_text.h"
#include "common/lmdb/lmdb.h"
#include "common/lmdb/structure.h"
#include "common/utf8.h"
#include "pipeline/store/shard_format.h"
#include "tests/fuzz/coverage/folder.h"
#include "tests/fuzz/coverage/harness.h"
#include "tests/fuzz/coverage/harness_list.h"
#include "tests/fuzz/coverage/seal.h"

namespace winnow::fuzz {
namespace {

// Calls every accessor of a value.
void ask(const JsonReader& value) {
  const auto attempt = [](auto question) {
    try {
      question();
    } catch (const Error&) {
      // The value is of another type.
    }
  };
  attempt([&] { value.number(); });
  attempt([&] { value.number<std::uint8_t>(); });
  attempt([&] { value.integer(-5, 5); });
  attempt([&] { value.real_from_0(); });
  attempt([&] { value.boolean(); });
  attempt([&] { value.text(); });
}

void walk(const JsonReader& value, int& questions) {
  if (questions-- > 0) ask(value);  // each failure searches the text for its position
  if (value.json().is_object()) {
    for (const auto& [name, member] : value.members()) walk(member, questions);
  } else if (value.json().is_array()) {
    for (const JsonReader& item : value.items()) walk(item, questions);
  }
}

}  // namespace

int fuzz_json(BytesView input) {
  const JsonReader reader(as_text(input), {"text", "correct it"});
  int questions = 20;
  walk(reader, questions);
  const std::string text = reader.dump();
  expect(JsonReader(text, {"text"}).dump() == text, "JSON that is written is read as the same");
  return 0;
}

int fuzz_json_text(BytesView input) {
  const std::string sealed = seal_json(input);
  if (!stated_digest(sealed).empty()) {
    expect(digest_line_matches(sealed), "a digest line that is put in matches");
  }
  return 0;
}

int fuzz_csv_rows(BytesView input) {
  std::size_t bytes = 0;
  CsvReader reader(',', "table", [&](std::span<const std::string> fields, std::uint64_t line) {
    expect(line > 0 && !fields.empty(), "a row has a line and a field");
    for (const std::string& field : fields) bytes += field.size();
  });
  // In two pieces: the result must not depend on where a piece ends.
  reader.feed(as_text(input.first(input.size() / 2)));
  reader.feed(as_text(input.subspan(input.size() / 2)));
  reader.finish();
  expect(bytes <= input.size(), "fields are parts of the text");
  return 0;
}

int fuzz_utf8(BytesView input) {
  const std::string_view bytes = as_text(input);
  expect(from_utf8(to_utf8(bytes)) == bytes, "a name comes back as it was");
  return 0;
}

int fuzz_lmdb_structure(BytesView input) {
  const Bytes file(input.begin(), input.end());                 // aligned like a mapped file
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;  // begin, end
  lmdb::for_each_entry(
      file, "file", [&](BytesView /*key*/, std::uint64_t begin, std::uint64_t bytes) {
        expect(begin <= file.size() && bytes <= file.size() - begin, "a value lies in the file");
        places.emplace_back(begin, begin + bytes);
      });
  std::ranges::sort(places);
  for (std::size_t i = 1; i < places.size(); ++i) {
    expect(places[i - 1].second <= places[i].first, "no byte belongs to two values");
  }
  return 0;
}

// Opens a shard as winnow does: with LMDB, once its pages have been checked.
int fuzz_shard(BytesView input) {
  static const Folder folder;
  const lmdb::Reader reader(folder.write("00000.mdb", input));
  for (const auto& [key, value] : reader.all()) {
    try {
      pipeline::unpack_records(seal_pack(value), "pack");
    } catch (const Error&) {
      // The next may be valid.
    }
  }
  reader.at_or_before(7);
  reader.drop_pages();
  return 0;
}

}  // namespace winnow::fuzz
