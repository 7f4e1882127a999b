#include "pipeline/store/manifest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "pipeline/store/json_internal.h"
#include "pipeline/store/ledger.h"
#include "tests/common/temporary_folder.h"

namespace winnow::pipeline::manifest_test {

Manifest example() {
  Manifest m;
  m.sources = {{.name = "pic\xFFtures",
                .format = "image_folder",
                .inputs = 9,
                .listing_hash = std::string(32, 'a'),
                .class_names = {"cat", "caf\xE9", "\xEE\xBE\x80"}}};
  m.classes = m.sources[0].class_names;
  m.shards = {{.file = "shards/00000.mdb",
               .first_id = 0,
               .last_id = 4,
               .records = 3,
               .bytes = kBlockBytes + 1,
               .block_hashes = {std::string(16, '1'), std::string(16, '2')}},
              {.file = "shards/00001.mdb",
               .first_id = 5,
               .last_id = 8,
               .records = 4,
               .bytes = 8192,
               .block_hashes = {std::string(16, '3')}}};
  m.tables.hashes = {"phash:1"};
  m.inputs.by_fate = by_name({});
  m.inputs.by_fate["ok"] = 7;
  m.inputs.by_fate["corrupt"] = 2;
  m.inputs.total = 9;
  m.images.split_counts = {1, 3, 0, 3};
  m.images.channels = 3;
  m.images.pixel_sums = {.pixels = 4, .sum = {10, 20, 1020}, .sum_of_squares = {30, 200, 260100}};
  m.store = "original";
  m.tables.fingerprints_hash = std::string(32, 'b');
  m.tables.ledger_hash = std::string(32, 'c');
  m.settings.store = "original";
  m.settings.fingerprints.hashes = {"phash:1"};
  m.settings.shard_bytes = 1000;
  return m;
}

Manifest example_with_statistics() {
  Manifest m = example();
  Statistics s(m.classes.size());
  s.splits[0] = {.unlabelled = 1, .classes = {0, 0, 0}};
  s.splits[1] = {.unlabelled = 0, .classes = {1, 3, 0}};
  s.splits[3] = {.unlabelled = 2, .classes = {0, 0, 1}};
  s.short_side = {.first = 10, .counts = {2, 0, 5}};
  s.pixels = {.first = 10, .counts = {2, 0, 5}};
  s.aspect = {.first = kSquare - 1, .counts = {7}};
  s.file_bytes = {.first = 7, .counts = {7}};
  s.total_pixels = 2 * 1024 + 5 * 4096;
  s.total_file_bytes = 7 * 200;
  s.smallest = {.id = 3, .width_px = 30, .height_px = 35};
  s.largest = {.id = 1, .width_px = 60, .height_px = 70};
  m.images.statistics = std::move(s);
  return m;
}

std::string message_of(const std::string& text) {
  try {
    parse_manifest(text, "manifest.json");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

// The text after applying `edit` to its JSON, with a valid digest.
template <class Edit>
std::string forge(const Manifest& manifest, Edit edit) {
  Json json = Json::parse(to_json(manifest));
  json.erase("digest");
  edit(json);
  const std::string body = json.dump(2) + "\n";
  return "{\n  \"digest\": \"" + to_hex(xxh3_128(as_bytes(body))) + "\",\n" + body.substr(2);
}

TEST(Manifest, RoundTrip) {
  const Manifest m = example();
  const std::string text = to_json(m);
  const Manifest back = parse_manifest(text, "manifest.json");
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.classes, m.classes);
  EXPECT_EQ(back.sources[0].name, m.sources[0].name);
  EXPECT_EQ(back.settings, m.settings);
  EXPECT_EQ(back.shards[0].block_hashes, m.shards[0].block_hashes);
  EXPECT_EQ(back.images.pixel_sums.sum_of_squares, m.images.pixel_sums.sum_of_squares);
  EXPECT_EQ(digest(back), digest(m));
}

TEST(Manifest, DigestIsTheHashOfTheTextWithoutItsLine) {
  std::string text = to_json(example());
  const std::size_t line = text.find("  \"digest\": \"");
  const std::size_t end = text.find('\n', line);
  ASSERT_NE(line, std::string::npos);
  const std::string stated = text.substr(line + 13, 32);
  text.erase(line, end + 1 - line);
  EXPECT_EQ(stated, to_hex(xxh3_128(as_bytes(text))));
  EXPECT_EQ(stated, digest(example()));
  EXPECT_TRUE(Json::parse(text).is_object());
}

TEST(Manifest, ANewerVersionIsNamed) {
  const std::string text = forge(example(), [](Json& json) { json["version"] = 2; });
  EXPECT_NE(message_of(text).find(
                "was written by a newer winnow (manifest version 2, this one reads up to 1)"),
            std::string::npos)
      << message_of(text);
}

TEST(Manifest, UnknownFieldsOfThisVersionAreLeftAlone) {
  const std::string text = forge(example(), [](Json& json) { json["later"] = {1, 2}; });
  EXPECT_EQ(digest(parse_manifest(text, "manifest.json")), digest(example()));
}

TEST(Manifest, DeepNestingIsRefusedBeforeItOverflowsTheStack) {
  const std::string deep = std::string(2'000'000, '[') + std::string(2'000'000, ']');
  EXPECT_NE(message_of("{\n  \"digest\": " + deep + "}").find("nested too deep"),
            std::string::npos);
  EXPECT_NE(message_of(std::string(2'000'000, '[')).find("nested too deep"), std::string::npos);
  EXPECT_EQ(message_of(forge(example(),
                             [](Json& json) {
                               for (int i = 0; i < 50; ++i) json["later"] = {json["later"]};
                             })),
            "");
}

TEST(Manifest, NamesOfAnObjectAreThereOnce) {
  std::string body = to_json(example());
  body.erase(body.find("  \"digest\""), body.find('\n', 2) - 1);
  const std::string field = "  \"inputs\": 9,\n";
  body.insert(body.find(field), field);
  const std::string text =
      "{\n  \"digest\": \"" + to_hex(xxh3_128(as_bytes(body))) + "\",\n" + body.substr(2);
  EXPECT_NE(message_of(text).find("\"inputs\" twice"), std::string::npos) << message_of(text);
}

TEST(Manifest, SettingsAreReadAndWrittenAsTheyAre) {
  const auto rewritten = [](const Json& settings) {
    const std::string text = forge(example(), [&](Json& json) { json["settings"] = settings; });
    return Json::parse(to_json(parse_manifest(text, "manifest.json")))["settings"].dump();
  };
  for (
      const char* settings :
      {"null", R"({"store":"none","hashes":[],"shard_bytes":1,"max_pixels":2})",
       R"({"store":"original","hashes":["phash:1"],"shard_bytes":1,"max_pixels":2,"max_scans":3,)"
       R"("orientation":"apply","matte":"#01abff","resize":256,"quality":80,)"
       R"("dropped":[{"hash":"exact"},{}]})",
       R"({"store":"raw","hashes":["phash:1"],"shard_bytes":1,"max_pixels":178956970,"resize":256,)"
       R"("later":{"b":[1,{"a":2}],"a":0.5}})",
       R"({"store":"raw","hashes":["phash:1"],"shard_bytes":1,"max_pixels":2,"augment":{)"
       R"("recipe":"a recipe of a newer winnow","copies":2,"height_px":3,"width_px":4,"seed":5}})"}) {
    EXPECT_EQ(rewritten(Json::parse(settings)), settings);
  }
}

TEST(Manifest, EveryFlippedBitIsNoticed) {
  const std::string good = to_json(example());
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      EXPECT_NE(message_of(bad), "") << "byte " << at << " bit " << bit;
    }
    EXPECT_NE(message_of(good.substr(0, at)), "") << "cut to " << at;
  }
}

auto kind_of(const Json& json) {
  return std::tuple(json.is_boolean(), json.is_unsigned(), json.is_number(), json.is_string(),
                    json.is_array(), json.is_object());
}

TEST(Manifest, EveryFieldIsNeededAndOfItsType) {
  const Json whole = Json::parse(to_json(example()));
  for (const auto& [field, value] : whole.members()) {
    if (field == "digest") continue;
    const std::string name = field;
    EXPECT_NE(message_of(forge(example(), [&](Json& json) { json.erase(name); })), "") << name;
    const std::vector<Json> others{-1, 1.5, true, "text", Json::array({Json()}), Json::object()};
    for (const Json& other : others) {
      if (name == "settings" || kind_of(other) == kind_of(value)) continue;
      EXPECT_NE(message_of(forge(example(), [&](Json& json) { json[name] = other; })), "")
          << name << " " << other.dump();
    }
  }
}

TEST(Manifest, WhatCannotBeIsRefused) {
  const auto refused = [](auto edit) { return message_of(forge(example(), edit)) != ""; };
  EXPECT_FALSE(refused([](Json&) {}));
  EXPECT_TRUE(refused([](Json& j) { j["ledger"]["ok"] = 8; }));
  EXPECT_TRUE(refused([](Json& j) { j["ledger"]["lost"] = 0; }));
  EXPECT_TRUE(refused([](Json& j) { j["inputs"] = 10; }));
  EXPECT_TRUE(refused([](Json& j) { j["split_counts"]["train"] = ~std::uint64_t{0} - 3; }));
  EXPECT_TRUE(refused([](Json& j) { j["sources"][0]["inputs"] = 8; }));
  EXPECT_TRUE(refused([](Json& j) { j["shards"][0]["records"] = 4; }));
  EXPECT_TRUE(refused([](Json& j) { j["shards"][1]["first_id"] = 4; }));
  EXPECT_TRUE(refused([](Json& j) { j["shards"][0]["last_id"] = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](Json& j) { j["shards"][0]["bytes"] = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](Json& j) { j["shards"][0]["block_hashes"][0] = "xyz"; }));
  EXPECT_TRUE(refused([](Json& j) { j["store"] = "some"; }));
  EXPECT_TRUE(refused([](Json& j) { j["channels"] = 2; }));
  EXPECT_TRUE(refused([](Json& j) { j["width_px"] = std::uint64_t{1} << 31; }));
  EXPECT_TRUE(refused([](Json& j) { j["version"] = 0; }));
  EXPECT_TRUE(refused([](Json& j) { j["format"] = "else"; }));
  for (const char* file : {"shards/../../x", "/etc/passwd", "../shards/a", "shards/", "shards/.",
                           "shards/a/b", "other/a"}) {
    EXPECT_TRUE(refused([file](Json& j) { j["shards"][0]["file"] = file; })) << file;
  }
}

TEST(Manifest, StatisticsAreOptional) {
  EXPECT_EQ(to_json(example()).find("statistics"), std::string::npos);
  EXPECT_FALSE(parse_manifest(to_json(example()), "manifest.json").images.statistics);
  const Manifest m = example_with_statistics();
  const std::string text = to_json(m);
  const Manifest back = parse_manifest(text, "manifest.json");
  EXPECT_EQ(back.images.statistics, m.images.statistics);
  EXPECT_EQ(to_json(back), text);
}

TEST(Manifest, StatisticsThatCannotBeAreRefused) {
  const auto refused = [](auto edit) {
    return message_of(forge(example_with_statistics(),
                            [&](Json& json) { edit(json["statistics"]); })) != "";
  };
  EXPECT_FALSE(refused([](Json&) {}));
  const Json whole = Json::parse(to_json(example_with_statistics()))["statistics"];
  for (const auto& [field, value] : whole.members()) {
    EXPECT_TRUE(refused([name = field](Json& j) { j.erase(name); })) << field;
    EXPECT_TRUE(refused([name = field](Json& j) { j[name] = "text"; })) << field;
    if (!value.is_object()) continue;
    for (const auto& [part, inner] : value.members()) {
      EXPECT_TRUE(refused([a = field, b = part](Json& j) { j[a].erase(b); })) << field << part;
      EXPECT_TRUE(refused([a = field, b = part](Json& j) { j[a][b] = 1.5; })) << field << part;
    }
  }
  EXPECT_TRUE(refused([](Json& j) { j["splits"]["train"]["unlabelled"] = 1; }));
  EXPECT_TRUE(refused([](Json& j) { j["splits"]["train"]["classes"][1] = 4; }));
  EXPECT_TRUE(refused([](Json& j) { j["splits"]["train"]["classes"] = {0, 2, 0}; }));
  EXPECT_TRUE(refused([](Json& j) { j["splits"]["train"]["classes"] = {1, 3}; }));
  EXPECT_TRUE(refused([](Json& j) { j["splits"]["test"]["unlabelled"] = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](Json& j) { j["pixels"]["counts"][1] = 1; }));
  EXPECT_TRUE(refused([](Json& j) { j["pixels"]["counts"][0] = ~std::uint64_t{0} - 4; }));
  EXPECT_TRUE(refused([](Json& j) { j["pixels"]["first"] = 9; }));
  EXPECT_TRUE(refused([](Json& j) { j["aspect"]["first"] = -1; }));
  EXPECT_TRUE(refused([](Json& j) { j["aspect"]["first"] = 257; }));
  EXPECT_TRUE(refused([](Json& j) { j["aspect"]["counts"] = {0, 7}; }));
  EXPECT_TRUE(refused([](Json& j) { j["smallest"]["width_px"] = 10; }));
  EXPECT_TRUE(refused([](Json& j) { j["largest"]["width_px"] = std::uint64_t{1} << 32; }));
}

// After random edits of the JSON tree, with a valid digest, it is refused with a message or read,
// never worse.
TEST(Manifest, RandomEditsNeverCrash) {
  std::mt19937_64 random(1);
  const std::string numbers = "0123456789";
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    Json json = Json::parse(to_json(round % 2 ? example() : example_with_statistics()));
    json.erase("digest");
    std::string body = json.dump(2) + "\n";
    for (std::uint64_t i = 0, n = 1 + random() % 3; i < n; ++i) {
      body[2 + random() % (body.size() - 2)] =
          random() % 2 ? numbers[random() % 10] : static_cast<char>(random());
    }
    const std::string text =
        "{\n  \"digest\": \"" + to_hex(xxh3_128(as_bytes(body))) + "\",\n" + body.substr(2);
    read += message_of(text).empty() ? 1 : 0;
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 3000);
}

TEST(Manifest, MeanAndDeviation) {
  Manifest m;
  EXPECT_EQ(m.images.mean()[0], 0.0);
  EXPECT_EQ(m.images.deviation()[0], 0.0);
  m = example();
  EXPECT_DOUBLE_EQ(m.images.mean()[0], 2.5 / 255);
  EXPECT_DOUBLE_EQ(m.images.deviation()[0], std::sqrt(30.0 / 4 - 2.5 * 2.5) / 255);
  EXPECT_DOUBLE_EQ(m.images.mean()[2], 1.0);
  EXPECT_EQ(m.images.deviation()[2], 0.0);  // all white: no rounding error is left
  // Many nearly constant pixels, where doubles would lose the difference.
  const std::uint64_t n = 100'000'000'000'000;
  m.images.pixel_sums = {
      .pixels = n, .sum = {200 * n + 1, 0, 0}, .sum_of_squares = {40000 * n + 401, 0, 0}};
  EXPECT_NEAR(m.images.deviation()[0] * 255, 1e-7, 1e-12);
}

std::vector<LedgerRow> example_rows() {
  return {{0, "a/b.jpg", Split::kTrain, Fate::kOk, ""},
          {3, "caf\xE9 \"x\"\n\t\x01.png", Split::kNone, Fate::kCorrupt, "bad \xFF marker", 17},
          {make_sample_id(7, 1), "\xEE\xBE\x80\xC3\xA9", Split::kTest, Fate::kMissing, "gone", 0}};
}

TEST(Ledger, RoundTrip) {
  const std::string text = to_json_lines(example_rows());
  const auto back = parse_ledger(text, "ledger");
  ASSERT_EQ(back.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const LedgerRow want = example_rows()[i];
    EXPECT_EQ(back[i].id, want.id);
    EXPECT_EQ(back[i].name, want.name);
    EXPECT_EQ(back[i].split, want.split);
    EXPECT_EQ(back[i].fate, want.fate);
    EXPECT_EQ(back[i].reason, want.reason);
    EXPECT_EQ(back[i].bytes, want.bytes);
  }
  EXPECT_EQ(to_json_lines(back), text);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            R"({"id":0,"name":"a/b.jpg","split":"train","class":"ok"})");
  EXPECT_TRUE(parse_ledger("", "ledger").empty());
}

TEST(Ledger, RemarksAreTheRowsWithSomethingToSay) {
  const TemporaryFolder folder;
  std::vector<LedgerRow> rows = example_rows();
  const std::string trap = R"(x","class":"ok"})";
  rows.push_back({make_sample_id(7, 2), trap, Split::kTest, Fate::kOk, ""});
  rows.push_back({make_sample_id(7, 3), trap, Split::kTest, Fate::kOk, trap});
  rows.push_back({make_sample_id(7, 4), "y", Split::kTest, Fate::kCorrupt, trap});
  write_file_durably(folder.path() / "ledger", to_json_lines(rows));
  std::vector<SampleId> ids;
  for_each_remark(InputFile(folder.path() / "ledger"),
                  [&](const LedgerRow& row) { ids.push_back(row.id); });
  EXPECT_EQ(ids, (std::vector<SampleId>{3, make_sample_id(7, 1), make_sample_id(7, 3),
                                        make_sample_id(7, 4)}));
}

TEST(Ledger, CountsAllClasses) {
  auto counts = by_name(count_fates(example_rows()));
  EXPECT_EQ(counts.size(), static_cast<std::size_t>(kFateCount - 1));
  EXPECT_FALSE(counts.contains("duplicate"));  // as before that class existed
  EXPECT_EQ(counts.at("ok"), 1u);
  EXPECT_EQ(counts.at("corrupt"), 1u);
  EXPECT_EQ(counts.at("missing"), 1u);
  EXPECT_EQ(counts.at("too_large"), 0u);

  std::vector<LedgerRow> rows = example_rows();
  rows[0].fate = Fate::kDuplicate;
  rows[0].reason = "of another";
  counts = by_name(count_fates(rows));
  EXPECT_EQ(counts.size(), static_cast<std::size_t>(kFateCount));
  EXPECT_EQ(counts.at("duplicate"), 1u);
  EXPECT_EQ(parse_ledger(to_json_lines(rows), "ledger")[0].fate, Fate::kDuplicate);

  Manifest m = example();
  m.inputs.by_fate["ok"] = 7;
  m.inputs.by_fate["corrupt"] = 0;
  m.inputs.by_fate["duplicate"] = 2;
  EXPECT_EQ(parse_manifest(to_json(m), "m").inputs.by_fate, m.inputs.by_fate);
}

// Enough rows for many pieces and blocks. Ids have gaps, as with several sources.
TEST(Ledger, IsReadRowByRowAndByName) {
  const TemporaryFolder folder;
  std::mt19937_64 random(5);
  std::vector<LedgerRow> rows;
  SampleId id = 0;
  for (int i = 0; i < 30'000; ++i) {
    id += 1 + (random() % 10 == 0 ? random() % 1000 : 0);
    if (i == 20'000) id = make_sample_id(1, 0);
    std::string name = "a/" + std::to_string(random());
    if (i % 1000 == 3) name += "\n{\"id\":" + std::to_string(id + 1) + ",\"name\":\"b\xff";
    if (i == 15'000) name.assign(3 << 20, 'x');  // longer than a piece
    rows.push_back(
        {.id = id, .name = name, .split = Split::kTest, .fate = Fate::kOk, .reason = {}});
  }
  const std::string text = to_json_lines(rows);
  write_file_durably(folder / "ledger", text);
  const InputFile file(folder / "ledger");
  std::vector<LedgerRow> back;
  for_each_row(file, [&](const LedgerRow& row) { back.push_back(row); });
  EXPECT_TRUE(to_json_lines(back) == text);

  const LedgerNames name_of{InputFile(folder / "ledger")};
  for (const LedgerRow& row : rows) ASSERT_EQ(name_of(row.id), row.name);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].id - rows[i - 1].id > 1) {
      EXPECT_THROW(name_of(rows[i].id - 1), Error);
    }
  }
  EXPECT_THROW(name_of(0), Error);
  EXPECT_THROW(name_of(id + 1), Error);

  write_file_durably(folder / "cut", text.substr(0, text.size() - 1));
  EXPECT_THROW(for_each_row(InputFile(folder / "cut"), [](const LedgerRow&) {}), FormatError);
  EXPECT_THROW(LedgerNames(InputFile(folder / "cut")), FormatError);
  write_file_durably(folder / "empty", "");
  EXPECT_THROW(LedgerNames(InputFile(folder / "empty"))(0), Error);
}

TEST(Ledger, DamageIsRefused) {
  const std::string good = to_json_lines(example_rows());
  for (std::size_t size = 1; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    if (cut.back() == '\n') continue;  // whole lines: only the manifest's hash detects this cut
    EXPECT_THROW(parse_ledger(cut, "ledger"), FormatError) << size;
  }
  const std::string line = good.substr(0, good.find('\n') + 1);
  EXPECT_THROW(parse_ledger(line + line, "ledger"), FormatError);  // ids do not ascend
  for (const char* bad : {"{\"id\":-1,\"name\":\"a\",\"split\":\"train\",\"class\":\"ok\"}\n",
                          "{\"id\":1,\"name\":\"a\",\"split\":\"dev\",\"class\":\"ok\"}\n",
                          "{\"id\":1,\"name\":\"a\",\"split\":\"train\",\"class\":\"fine\"}\n",
                          "{\"id\":1,\"split\":\"train\",\"class\":\"ok\"}\n", "[]\n", "\n"}) {
    EXPECT_THROW(parse_ledger(bad, "ledger"), FormatError) << bad;
  }
}

TEST(Names, AnyBytesSurviveJson) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes(random() % 12, ' ');
    // Mostly bytes of multi-byte characters, so that both valid and broken ones occur.
    for (char& c : bytes) {
      const char parts[] = {'a',    '\xC3', '\xA9', '\xEE', '\xBE',
                            '\xBF', '\x80', '\xF0', '\x9F', '\xED'};
      c = random() % 4 ? parts[random() % sizeof(parts)] : static_cast<char>(random());
    }
    const std::string text = to_utf8(bytes);
    EXPECT_NO_THROW(Json(text).dump());  // throws if it is not UTF-8
    EXPECT_EQ(from_utf8(text), bytes);
  }
  EXPECT_EQ(to_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
}

}  // namespace winnow::pipeline::manifest_test
