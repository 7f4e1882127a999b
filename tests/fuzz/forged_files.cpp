#include "tests/fuzz/forged_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/checksum.h"
#include "common/file.h"
#include "common/json_text.h"
#include "common/lmdb/lmdb.h"
#include "dedup/table/column_file.h"
#include "dedup/table/fingerprints.h"
#include "pipeline/store/manifest.h"
#include "pipeline/store/shard_format.h"
#include "tests/fuzz/coverage/seal.h"

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void replace(const fs::path& path, BytesView bytes) {
  fs::remove(path);
  write_file_durably(path, bytes);
}
void replace(const fs::path& path, const std::string& text) {
  replace(path, as_bytes(std::string_view(text)));
}

std::string hash_of(const fs::path& path) { return to_hex(xxh3_128(read_file(path))); }

// The text of an object, with its digest if it has one.
std::string sealed(const Json& object, bool digest) {
  const std::string text = object.dump(2) + "\n";
  return digest ? with_digest_line(text) : text;
}

Json without_digest(const fs::path& path) {
  Json object = Json::parse(read_text(path));
  object.erase("digest");
  return object;
}

// --- Making references to a file's hash fit the file again.

void seal_checkpoint(const ForgeryPlaces& at) {
  const fs::path path = at.checkpoint() / "manifest.json";
  Json manifest = without_digest(path);
  for (auto& [name, row] : manifest["files"].items()) {
    row["bytes"] = fs::file_size(at.checkpoint() / name);
    row["xxh3_128"] = hash_of(at.checkpoint() / name);
  }
  replace(path, sealed(manifest, true));
}

// The state of each checkpoint names its plan.
void seal_plan(const ForgeryPlaces& at) {
  const fs::path path = at.checkpoint() / "state.json";
  Json state = Json::parse(read_text(path));
  state["plan"] = hash_of(at.run() / "plan.json");
  replace(path, sealed(state, false));
  seal_checkpoint(at);
}

void seal_cache(const ForgeryPlaces& at) {
  const fs::path path = at.cache() / "manifest.json";
  Json manifest = without_digest(path);
  manifest["fingerprints_hash"] = hash_of(at.cache() / "fingerprints" / "table");
  manifest["ledger_hash"] = hash_of(at.cache() / "ledger.jsonl");
  for (Json& shard : manifest["shards"]) {
    const Bytes bytes = read_file(at.cache() / shard["file"].get<std::string>());
    shard["bytes"] = bytes.size();
    shard["block_hashes"] = Json::array();
    for (std::size_t i = 0; i < bytes.size(); i += pipeline::kBlockBytes) {
      const BytesView block = BytesView(bytes).subspan(
          i, std::min<std::size_t>(pipeline::kBlockBytes, bytes.size() - i));
      shard["block_hashes"].push_back(to_hex(xxh3_64(block)));
    }
  }
  replace(path, sealed(manifest, true));
}

void seal_pictured(const ForgeryPlaces& at) {
  const fs::path path = at.pictured() / "manifest.json";
  Json manifest = without_digest(path);
  manifest["fingerprints_hash"] =
      to_hex(dedup::hash_of_table(InputFile(at.pictured() / "fingerprints" / "table")));
  replace(path, sealed(manifest, true));
}

void seal_folds(const ForgeryPlaces& at) {
  const fs::path path = at.folds() / "out-of-fold.json";
  Json json = Json::parse(read_text(path));
  for (const std::string ending : {"npy", "csv"}) {
    json[ending + "_xxh3_128"] = hash_of(at.folds() / ("out-of-fold." + ending));
  }
  replace(path, sealed(json, false));
}

void seal_index(const ForgeryPlaces& at) {
  const fs::path path = at.index() / "manifest.json";
  Json manifest = without_digest(path);
  for (Json& segment : manifest["segments"]) {
    for (const char* file : {"table", "names", "links"}) {
      Json& row = segment[file];
      row["bytes"] = fs::file_size(at.index() / row["file"].get<std::string>());
      row["hash"] = hash_of(at.index() / row["file"].get<std::string>());
    }
  }
  replace(path, sealed(manifest, true));
}

using Seal = void (*)(const ForgeryPlaces&);
void sealed_already(const ForgeryPlaces&) {}

// --- JSON: each field gets each of these values.

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

std::vector<std::pair<std::string, std::string>> hostile_values() {
  return {{"-1", "-1"},
          {"0", "0"},
          {"2.5", "2.5"},
          {"65536", "65536"},
          {"2^31", "2147483648"},
          {"2^32", "4294967296"},
          {"2^60", "1152921504606846976"},
          {"2^63", "9223372036854775808"},
          {"-2^63", "-9223372036854775808"},
          {"2^70", "1180591620717411303424"},
          {"1e30", "1e30"},
          {"-1e300", "-1e300"},
          {"NaN", "NaN"},
          {"nan", "\"nan\""},
          {"empty text", "\"\""},
          {"../", "\"../../x\""},
          {"/", "\"/etc/passwd\""},
          {"a zero byte", R"("a\u0000b")"},
          {"long text", "\"" + std::string(200'000, 'a') + "\""},
          {"null", "null"},
          {"true", "true"},
          {"[]", "[]"},
          {"{}", "{}"},
          {"60 levels", nested(60)},
          {"300,000 levels", nested(300'000)}};
}

// Only the first element of a list: the others are read like it.
void add_pointers(const Json& value, const std::string& pointer, std::vector<std::string>& out) {
  if (!pointer.empty()) out.push_back(pointer);
  if (!value.is_structured()) return;
  for (const auto& [name, inner] : value.items()) {
    add_pointers(inner, pointer + "/" + name, out);
    if (value.is_array()) return;
  }
}

struct JsonFile {
  const char* what;
  Reads read_by;
  fs::path path;  // relative to the root
  bool digest;
  Seal seal;
};

Json object_of(const JsonFile& file, const fs::path& root) {
  return file.digest ? without_digest(root / file.path) : Json::parse(read_text(root / file.path));
}

// `with` returns the text that replaces "PLACE".
Forgery change_of(const JsonFile& file, const std::string& pointer, const std::string& name,
                  const std::string& with, bool rename = false) {
  return {std::string(file.what) + " " + pointer + ": " + name, file.read_by,
          [=](const ForgeryPlaces& at) {
            Json object = object_of(file, at.root);
            const Json::json_pointer place(pointer);
            Json& within = object[place.parent_pointer()];
            if (rename) {
              within["PLACE"] = 0;  // after the existing one
            } else {
              object[place] = "PLACE";
            }
            std::string text = object.dump(2) + "\n";
            text.replace(text.find("\"PLACE\""), 7, with);
            replace(at.root / file.path, file.digest ? with_digest_line(text) : text);
            file.seal(at);
          }};
}

void add_json(const JsonFile& file, const ForgeryPlaces& places, std::vector<Forgery>& out) {
  const Json object = object_of(file, places.root);
  std::vector<std::string> pointers;
  add_pointers(object, "", pointers);
  for (const std::string& pointer : pointers) {
    for (const auto& [name, text] : hostile_values()) {
      out.push_back(change_of(file, pointer, name, text));
    }
    const Json::json_pointer place(pointer);
    if (!object[place.parent_pointer()].is_object()) continue;
    out.push_back(change_of(file, pointer, "twice", Json(place.back()).dump(), /*rename=*/true));
    out.push_back({std::string(file.what) + " " + pointer + ": missing", file.read_by,
                   [=](const ForgeryPlaces& at) {
                     Json bad = object_of(file, at.root);
                     bad[place.parent_pointer()].erase(place.back());
                     replace(at.root / file.path, sealed(bad, file.digest));
                     file.seal(at);
                   }});
  }
}

// --- Tables of columns: header, directory, elements, whole columns.

struct Column {
  std::string name;
  std::uint32_t element_bytes;
  Bytes data;
};

struct ColumnTable {
  std::string magic;
  std::uint32_t version;
  std::uint64_t rows;
  std::vector<Column> columns;
};

template <class T>
T number_at(BytesView bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// docs/formats/fingerprints.md
constexpr std::size_t kColumnsAt = 24;
constexpr std::size_t kColumnBytes = 64;

ColumnTable parse_table(const Bytes& bytes) {
  ColumnTable table{std::string(as_text(BytesView(bytes).first(8))),
                    number_at<std::uint32_t>(bytes, 8),
                    number_at<std::uint64_t>(bytes, 16),
                    {}};
  for (std::uint32_t i = 0; i < number_at<std::uint32_t>(bytes, 12); ++i) {
    const std::size_t at = kColumnsAt + kColumnBytes * i;
    const auto element_bytes = number_at<std::uint32_t>(bytes, at + 40);
    const BytesView data =
        BytesView(bytes).subspan(number_at<std::uint64_t>(bytes, at + 56),
                                 element_bytes * number_at<std::uint64_t>(bytes, at + 48));
    table.columns.push_back({reinterpret_cast<const char*>(bytes.data() + at), element_bytes,
                             Bytes(data.begin(), data.end())});
  }
  return table;
}

Bytes bytes_of(const ColumnTable& table) {
  std::vector<dedup::ColumnView> views;
  for (const Column& c : table.columns) {
    views.push_back({{c.name, c.element_bytes, c.data.size() / c.element_bytes}, c.data});
  }
  return dedup::column_file({table.magic, table.version, "table"}, table.rows, views);
}

struct TableFile {
  const char* what;
  Reads read_by;
  fs::path path;
  Seal seal;
};

constexpr std::array<std::uint64_t, 8> kNumbers{0,
                                                1,
                                                (std::uint64_t{1} << 31) - 1,
                                                std::uint64_t{1} << 31,
                                                std::uint64_t{1} << 32,
                                                std::uint64_t{1} << 60,
                                                std::uint64_t{1} << 63,
                                                ~std::uint64_t{0}};

// Writes the lowest `width` bytes of `number` at a place.
Forgery patch_of(const TableFile& file, const std::string& field, std::size_t place,
                 std::size_t width, std::uint64_t number) {
  return {std::string(file.what) + " " + field + ": " + std::to_string(number), file.read_by,
          [=](const ForgeryPlaces& at) {
            Bytes bytes = read_file(at.root / file.path);
            std::memcpy(bytes.data() + place, &number, width);
            replace(at.root / file.path, fuzz::seal_column_file(bytes));
            file.seal(at);
          }};
}

Forgery change_of(const TableFile& file, const std::string& what,
                  const std::function<void(ColumnTable&)>& change) {
  return {std::string(file.what) + " " + what, file.read_by, [=](const ForgeryPlaces& at) {
            ColumnTable table = parse_table(read_file(at.root / file.path));
            change(table);
            replace(at.root / file.path, fuzz::seal_column_file(bytes_of(table)));
            file.seal(at);
          }};
}

// Adds forgeries of the columns whose names begin with `beginning`.
void add_table(const TableFile& file, const ForgeryPlaces& places, std::vector<Forgery>& out,
               std::string_view beginning = {}) {
  const Bytes bytes = read_file(places.root / file.path);
  const ColumnTable table = parse_table(bytes);
  for (const std::uint64_t number : kNumbers) {
    out.push_back(patch_of(file, "version", 8, 4, number));
    out.push_back(patch_of(file, "columns", 12, 4, number));
    out.push_back(patch_of(file, "rows", 16, 8, number));
  }
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const std::size_t at = kColumnsAt + kColumnBytes * i;
    if (!column.name.starts_with(beginning)) continue;
    for (const std::uint64_t number : kNumbers) {
      out.push_back(patch_of(file, column.name + ".element_bytes", at + 40, 4, number));
      out.push_back(patch_of(file, column.name + ".count", at + 48, 8, number));
      out.push_back(patch_of(file, column.name + ".offset", at + 56, 8, number));
      if (column.data.empty()) continue;
      const std::size_t width = std::min<std::size_t>(8, column.element_bytes);
      const std::size_t begin = number_at<std::uint64_t>(bytes, at + 56);
      const std::size_t last = begin + column.data.size() - column.element_bytes;
      out.push_back(patch_of(file, column.name + " first", begin, width, number));
      out.push_back(patch_of(file, column.name + " last", last, width, number));
    }
    const auto add = [&](const std::string& what, const std::function<void(ColumnTable&)>& change) {
      out.push_back(change_of(file, column.name + " " + what, change));
    };
    const std::size_t element = column.element_bytes;
    add("missing", [=](ColumnTable& t) { t.columns.erase(t.columns.begin() + std::ptrdiff_t(i)); });
    add("twice", [=](ColumnTable& t) { t.columns.push_back(t.columns[i]); });
    add("empty", [=](ColumnTable& t) { t.columns[i].data.clear(); });
    add("longer",
        [=](ColumnTable& t) { t.columns[i].data.resize(t.columns[i].data.size() + element); });
    add("all ones", [=](ColumnTable& t) { std::ranges::fill(t.columns[i].data, std::byte{0xFF}); });
    add("all zero", [=](ColumnTable& t) { std::ranges::fill(t.columns[i].data, std::byte{0}); });
    add("turned round", [=](ColumnTable& t) { std::ranges::reverse(t.columns[i].data); });
  }
}

void add_selection_texts(const TableFile& file, std::vector<Forgery>& out) {
  std::vector<std::pair<std::string, std::string>> texts = hostile_values();
  const std::string deep = nested(400'000);
  texts.insert(texts.end(),
               {{"no JSON", "{"},
                {"deep in a field", R"({"hash":)" + deep + R"(,"threshold":)" + deep + "}"},
                {"62 levels", R"({"a":)" + nested(61) + "}"},
                {"a field twice", R"({"hash":"exact","hash":"exact"})"},
                {"controls", "{\"hash\":\"\\u001b[2J\\u0000\\n\"}"},
                {"verb", R"({"verb":"split","of":{"a":1},"seed":[1]})"},
                {"many", "{\"a\":[1" + [] {
                   std::string ones;
                   for (int i = 0; i < 100'000; ++i) ones += ",1";
                   return ones;
                 }() + "]}"}});
  for (const char* column : {"settings", "name", "cache_digest"}) {
    for (const auto& [name, text] : texts) {
      if (text.size() > 1'000'000 && std::string(column) != "settings") continue;
      out.push_back(change_of(file, std::string(column) + ": " + name, [=](ColumnTable& t) {
        for (Column& c : t.columns) {
          const BytesView raw = as_bytes(std::string_view(text));
          if (c.name == column) c.data.assign(raw.begin(), raw.end());
        }
      }));
    }
  }
}

// Adds a row for a sample that the cache lacks, in the group of the last row.
void add_selection_row(const TableFile& file, std::vector<Forgery>& out) {
  out.push_back(change_of(file, "a row more", [](ColumnTable& t) {
    constexpr std::array kTexts{"name", "mode", "settings", "cache_digest"};
    std::uint64_t id = 0;
    for (Column& c : t.columns) {
      if (std::ranges::find(kTexts, c.name) != kTexts.end()) continue;
      Bytes last(c.data.end() - std::ptrdiff_t{c.element_bytes}, c.data.end());
      if (c.name == "ids") id = number_at<std::uint64_t>(last, 0) + 1;
      if (c.name == "ids" || c.name == "kept") std::memcpy(last.data(), &id, 8);
      c.data.insert(c.data.end(), last.begin(), last.end());
    }
    ++t.rows;
  }));
}

// --- Shards: records that no writer makes, and pages that point elsewhere.

void add_records(std::vector<Forgery>& out) {
  // Fields of a record's header, by place and width (docs/formats/shard.md).
  struct Field {
    const char* name;
    std::size_t at, width;
  };
  constexpr std::array<Field, 10> kFields{{{"version", 8, 2},
                                           {"coding", 10, 1},
                                           {"split", 11, 1},
                                           {"labels", 12, 2},
                                           {"group_bytes", 14, 2},
                                           {"id", 16, 8},
                                           {"height_px", 24, 4},
                                           {"width_px", 28, 4},
                                           {"channels", 32, 2},
                                           {"payload_bytes", 36, 4}}};
  const auto add = [&](const std::string& what, const std::function<void(Bytes&)>& change) {
    out.push_back({"shard " + what, Reads::kCache, [=](const ForgeryPlaces& at) {
                     const fs::path path = at.cache() / "shards" / "00000.mdb";
                     std::vector<lmdb::Writer::Entry> entries;
                     {
                       const lmdb::Reader reader(path);
                       for (const auto& [key, pack] : reader.all()) {
                         entries.emplace_back(key, Bytes(pack.begin(), pack.end()));
                       }
                     }
                     change(entries.front().second);
                     lmdb::Writer writer(path);
                     writer.put(entries);
                     writer.seal();
                     seal_cache(at);
                   }});
  };
  for (const std::uint64_t number : kNumbers) {
    for (const Field& field : kFields) {
      add(std::string("record ") + field.name + ": " + std::to_string(number), [=](Bytes& pack) {
        const auto at = number_at<std::uint64_t>(pack, 8);
        std::memcpy(pack.data() + at + field.at, &number, field.width);
        // The checksum covers everything up to the end of the payload, which most of these do not
        // move.
        const auto labels = number_at<std::uint16_t>(pack, at + 12);
        const auto group = number_at<std::uint16_t>(pack, at + 14);
        const auto payload = number_at<std::uint32_t>(pack, at + 36);
        const std::size_t end = (40 + 4 * labels + group + 7) / 8 * 8 + payload;
        if (end > pack.size() - at) return;
        const std::uint64_t sum = xxh3_64(BytesView(pack).subspan(at + 8, end - 8));
        std::memcpy(pack.data() + at, &sum, 8);
      });
    }
    add("pack count: " + std::to_string(number),
        [=](Bytes& pack) { std::memcpy(pack.data(), &number, 4); });
    add("pack offset: " + std::to_string(number),
        [=](Bytes& pack) { std::memcpy(pack.data() + 8, &number, 8); });
  }
}

void add_pages(const ForgeryPlaces& places, std::vector<Forgery>& out) {
  const fs::path shard = fs::path("cache") / "shards" / "00000.mdb";
  const std::size_t size = fs::file_size(places.root / shard);
  const auto add = [&](const std::string& what, std::size_t place, std::size_t width,
                       std::uint64_t number) {
    out.push_back({"shard " + what + ": " + std::to_string(number), Reads::kCache,
                   [=](const ForgeryPlaces& at) {
                     Bytes bytes = read_file(at.root / shard);
                     for (const std::size_t meta : {0, 4096}) {
                       if (place < 4096) std::memcpy(bytes.data() + meta + place, &number, width);
                     }
                     if (place >= 4096) std::memcpy(bytes.data() + place, &number, width);
                     replace(at.root / shard, bytes);
                     seal_cache(at);
                   }});
  };
  for (const std::uint64_t number : kNumbers) {
    add("meta page_bytes", 40, 4, number);
    add("meta depth", 16 + 24 + 48 + 6, 2, number);
    add("meta entries", 16 + 24 + 48 + 32, 8, number);
    add("meta root", 16 + 24 + 48 + 40, 8, number);
    add("meta last_page", 16 + 120, 8, number);
    for (std::size_t page = 2 * 4096; page < size; page += 4096) {
      add("page " + std::to_string(page / 4096) + " lower", page + 12, 2, number);
      add("page " + std::to_string(page / 4096) + " node", page + 16, 2, number);
    }
  }
}

// --- Safetensors: the header's fields.

void add_safetensors(const char* name, std::vector<Forgery>& out) {
  const auto add = [&](const std::string& what,
                       const std::function<std::string(std::string header)>& change) {
    out.push_back({std::string(name) + " " + what, Reads::kRun, [=](const ForgeryPlaces& at) {
                     const fs::path path = at.checkpoint() / name;
                     const Bytes bytes = read_file(path);
                     const auto size = number_at<std::uint64_t>(bytes, 0);
                     const std::string header =
                         change(std::string(as_text(BytesView(bytes).subspan(8, size))));
                     ByteWriter file;
                     file.put(static_cast<std::uint64_t>(header.size()));
                     file.put_text(header);
                     file.put_bytes(BytesView(bytes).subspan(8 + size));
                     replace(path, std::move(file).take());
                     seal_checkpoint(at);
                   }});
  };
  const auto put = [](std::string header, const std::string& field, const std::string& value) {
    Json object = Json::parse(header);
    auto first = object.begin();
    if (first.key() == "__metadata__") ++first;
    first.value()[field] = "PLACE";
    std::string text = object.dump();
    return text.replace(text.find("\"PLACE\""), 7, value);
  };
  for (const auto& [what, value] : hostile_values()) {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      add(std::string(field) + ": " + what,
          [=](const std::string& header) { return put(header, field, value); });
    }
    add("shape of " + what, [=](const std::string& header) {
      return put(header, "shape", "[" + value + "," + value + "]");
    });
    add("offsets of " + what, [=](const std::string& header) {
      return put(header, "data_offsets", "[" + value + "," + value + "]");
    });
  }
  add("shape of many", [=](const std::string& header) {
    std::string ones = "[1";
    for (int i = 0; i < 1'000'000; ++i) ones += ",1";
    return put(header, "shape", ones + "]");
  });
}

// --- Ledgers: a line.

void add_ledgers(const ForgeryPlaces& places, std::vector<Forgery>& out) {
  const std::string good = read_text(places.cache() / "ledger.jsonl");
  const std::string first = good.substr(0, good.find('\n'));
  const auto add = [&](const std::string& what, const std::string& line) {
    out.push_back({"ledger.jsonl " + what, Reads::kCache, [=](const ForgeryPlaces& at) {
                     const fs::path path = at.cache() / "ledger.jsonl";
                     const std::string text = read_text(path);
                     replace(path, line + text.substr(text.find('\n')));
                     seal_cache(at);
                   }});
  };
  const Json row = Json::parse(first);
  for (const auto& [field, old] : row.items()) {
    for (const auto& [what, value] : hostile_values()) {
      Json bad = row;
      bad[field] = "PLACE";
      std::string text = bad.dump();
      add(field + ": " + what, text.replace(text.find("\"PLACE\""), 7, value));
    }
  }
  add("no line", "");
  add("long line", "{\"a\":\"" + std::string(10'000'000, 'a') + "\"}");
}

// --- Predictions of folds: the fields of the .json, the text of the others.

void add_predictions(const ForgeryPlaces& places, std::vector<Forgery>& out) {
  add_json({"out-of-fold.json", Reads::kFolds, "folds/out-of-fold.json", false, sealed_already},
           places, out);
  const auto add = [&](const std::string& ending, const std::string& what,
                       const std::function<std::string(std::string)>& change) {
    out.push_back(
        {"out-of-fold." + ending + " " + what, Reads::kFolds, [=](const ForgeryPlaces& at) {
           const fs::path path = at.folds() / ("out-of-fold." + ending);
           replace(path, change(read_text(path)));
           seal_folds(at);
         }});
  };
  constexpr std::size_t kHeader = 128;  // header of the .npy
  for (const auto& [what, number] :
       {std::pair("NaN", std::nanf("")), {"infinity", HUGE_VALF}, {"-1", -1.0F}, {"2", 2.0F}}) {
    add("npy", what, [number = number](std::string text) {
      std::memcpy(text.data() + kHeader, &number, sizeof number);
      return text;
    });
  }
  const auto with = [](const char* from, const std::string& to) {
    return [=](std::string text) {
      const std::size_t at = text.find(from);
      return at == text.npos ? text : text.replace(at, std::strlen(from), to);
    };
  };
  add("npy", "Fortran", with("False", "True "));
  add("npy", "of bytes", with("<f4", "|u1"));
  add("npy", "many rows", with("(", "(9999999999"));
  add("npy", "no dictionary", with("{", std::string(60'000, '{')));
  for (const char* ending : {"npy", "csv"}) {
    add(ending, "empty", [](const std::string&) { return std::string(); });
    add(ending, "cut", [](const std::string& text) { return text.substr(0, text.size() / 2); });
    add(ending, "longer", [](const std::string& text) { return text + text; });
    add(ending, "zeros", [](const std::string& text) { return std::string(text.size(), '\0'); });
  }
  for (const auto& [what, line] : std::initializer_list<std::pair<const char*, std::string>>{
           {"an open quote", "\n\"1,a"},
           {"a long line", "\n" + std::string(10'000'000, '1')},
           {"a negative id", "\n-1,a,b,c,1\n"},
           {"a large id", "\n99999999999999999999999,a,b,c,1\n"},
           {"another id", "\n5000,a,b,c,1\n"},
           {"fold 0", "\n1,a,b,c,0\n"},
           {"many fields", "\n" + std::string(500'000, ',') + "\n"}}) {
    add("csv", what, with("\n", line));
  }
}

}  // namespace

std::vector<Forgery> forgeries(const ForgeryPlaces& places) {
  std::vector<Forgery> out;
  const fs::path step = fs::path("run") / "checkpoints" / "step-2";
  for (const JsonFile& file : std::initializer_list<JsonFile>{
           {"manifest.json", Reads::kCache, "cache/manifest.json", true, sealed_already},
           {"config.json", Reads::kRun, "run/config.json", true, sealed_already},
           {"plan.json", Reads::kRun, "run/plan.json", false, seal_plan},
           {"state.json", Reads::kRun, step / "state.json", false, seal_checkpoint},
           {"step-2/manifest.json", Reads::kRun, step / "manifest.json", true, sealed_already},
           {"index/manifest.json", Reads::kIndex, "index/manifest.json", true, sealed_already}}) {
    add_json(file, places, out);
  }
  const TableFile selection{"golden.selection", Reads::kSelection,
                            "cache/selections/golden.selection", sealed_already};
  add_table({"table", Reads::kCache, "cache/fingerprints/table", seal_cache}, places, out);
  add_table(selection, places, out);
  add_selection_texts(selection, out);
  add_selection_row(selection, out);
  for (const auto& entry : fs::directory_iterator(places.index())) {
    const fs::path name = entry.path().filename();
    if (name == "manifest.json" || !entry.is_regular_file() || fs::file_size(entry) == 0) continue;
    std::vector<Forgery> of_file;
    add_table({"", Reads::kIndex, "index" / name, seal_index}, places, of_file);
    for (Forgery& forgery : of_file) {
      forgery.what.insert(0, "index/" + name.string());
      out.push_back(std::move(forgery));
    }
  }
  add_table({"made.features", Reads::kFeatures, "cache/features/made.features", sealed_already},
            places, out);
  add_table({"pictured/table", Reads::kThumbnails, "pictured/fingerprints/table", seal_pictured},
            places, out, "thumbnails:");
  for (const auto& entry : fs::directory_iterator(places.pictured_index())) {
    if (entry.path().extension() != ".landmarks") continue;
    add_table({"landmarks", Reads::kLandmarks, "pictured-index" / entry.path().filename(),
               sealed_already},
              places, out);
  }
  add_predictions(places, out);
  add_records(out);
  add_pages(places, out);
  add_safetensors("model.safetensors", out);
  add_safetensors("optimizer.safetensors", out);
  add_ledgers(places, out);
  return out;
}

}  // namespace winnow::test
