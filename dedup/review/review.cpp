#include "dedup/review/review.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/list_text.h"
#include "common/named.h"
#include "common/utf8.h"

namespace winnow::dedup {
namespace {

constexpr std::string_view kSchema = "winnow.review/1";

constexpr std::array<Named<Verdict>, 6> kVerdicts{{{"duplicate", Verdict::kDuplicate},
                                                   {"different", Verdict::kDifferent},
                                                   {"keep", Verdict::kKeep},
                                                   {"drop", Verdict::kDrop},
                                                   {"unsure", Verdict::kUnsure},
                                                   {"none", Verdict::kNone}}};

bool compares(Verdict verdict) noexcept {
  return verdict == Verdict::kDuplicate || verdict == Verdict::kDifferent;
}

bool can_be_said(About about, Verdict verdict) noexcept {
  return about == About::kImage ? !compares(verdict) : verdict != Verdict::kDrop;
}

// Why these images do not fit a verdict; empty: they do.
std::string fault_of(About about, Verdict verdict, std::vector<Hash128> images) {
  if (compares(verdict) && images.size() < 2) return "has less than two images";
  if ((about == About::kImage || verdict == Verdict::kKeep) && images.size() != 1) {
    return "does not have exactly one image";
  }
  if (images.empty()) return "has no image";
  std::ranges::sort(images);
  const auto twice = std::ranges::adjacent_find(images);
  return twice == images.end() ? "" : "has " + to_hex(*twice) + " twice";
}

Hash128 parse_image(const JsonReader& json) {
  const std::string hex = json.text();
  const bool lower = std::ranges::all_of(
      hex, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (hex.size() != 32 || !lower) json.fail("is not 32 lower-case hex digits");
  return parse_hash128(hex);
}

JsonReader reader_of(std::string_view line, const std::string& file, std::uint64_t number) {
  return {line,
          {.name = file + ", line " + std::to_string(number),
           .remedy = "remove the line from the file"}};
}

std::string one_of(const JsonReader& json, const auto& words) {
  std::string text = json.text();
  if (std::ranges::find(words, text) == std::end(words)) json.fail("is not a known word");
  return text;
}

PairSample::Stratum parse_stratum(const JsonReader& json) {
  PairSample::Stratum stratum{
      .distance = json.at("distance").number(std::numeric_limits<int>::max()),
      .classes = one_of(json.at("classes"), std::array{"same", "other", "unknown"}),
      .splits = one_of(json.at("splits"), std::array{"same", "other"}),
      .pairs = json.at("pairs").number()};
  const JsonReader drawn = json.at("drawn");
  for (const JsonReader& pair : drawn.items()) {
    const std::vector<JsonReader> images = pair.items(2);
    stratum.drawn.push_back({parse_image(images[0]), parse_image(images[1])});
    if (!(stratum.drawn.back()[0] < stratum.drawn.back()[1])) {
      pair.fail("is not two images with the smaller hash first");
    }
  }
  if (stratum.drawn.size() > stratum.pairs) drawn.fail("has more pairs than its stratum");
  return stratum;
}

PairSample parse_sample(const JsonReader& json) {
  PairSample sample{.hash = json.at("hash").text(),
                    .threshold = json.at("threshold").number(std::numeric_limits<int>::max()),
                    .scope = json.at("scope").text(),
                    .seed = json.at("seed").number(),
                    .certain = json.at("certain").number()};
  if (const auto least = json.find("least_quality")) sample.least_quality = least->real(0, 100);
  for (const JsonReader& stratum : json.at("strata").items()) {
    sample.strata.push_back(parse_stratum(stratum));
  }
  return sample;
}

// Refuses a line or request that says several things at once.
void check_kinds(const JsonReader& json) {
  const auto says = [&](std::string_view member) { return json.has(member) ? 1 : 0; };
  if (says("sample") + says(member_of(About::kDuplicates)) + says(member_of(About::kImage)) > 1) {
    json.fail("has several kinds of content; only one is allowed");
  }
}

void parse_line(const JsonReader& json, std::uint64_t line, Review& review) {
  if (const auto sample = json.find("sample")) {
    check_kinds(json);
    review.sample = parse_sample(*sample);
  } else {
    review.judgements.push_back(parse_judgement(json));
    review.judgements.back().line = line;
  }
}

void check_header(std::string_view line, const std::string& file) {
  const auto is_one = [&]() -> bool {
    try {
      const auto schema = reader_of(line, file, 1).find("schema");
      return schema && schema->is_text() && schema->text() == kSchema;
      // The user may have named any file: it is someone else's, not a damaged review.
    } catch (const FormatError&) {
      return false;
    }
  };
  if (!is_one()) {
    throw FormatError(file + " is not a review: it does not begin with the line " +
                      Json{{"schema", kSchema}}.dump() + "; name a file that winnow review wrote");
  }
}

}  // namespace

std::string_view member_of(About about) noexcept {
  return about == About::kImage ? "image_verdict" : "verdict";
}

std::string_view verdict_name(Verdict verdict) noexcept { return name_in(kVerdicts, verdict); }

std::optional<Verdict> parse_verdict(About about, std::string_view name) noexcept {
  const auto* row = std::ranges::find(kVerdicts, name, &Named<Verdict>::name);
  if (row == kVerdicts.end() || !can_be_said(about, row->value)) return std::nullopt;
  return row->value;
}

std::string verdict_names(About about) {
  std::string names;
  for (const Named<Verdict>& row : kVerdicts) {
    if (!can_be_said(about, row.value)) continue;
    names += names.empty() ? "" : row.value == Verdict::kNone ? " and " : ", ";
    names += row.name;
  }
  return names;
}

Judgement parse_judgement(const JsonReader& json) {
  check_kinds(json);
  const About about = json.has(member_of(About::kImage)) ? About::kImage : About::kDuplicates;
  const JsonReader member = json.at(member_of(about));
  const std::optional<Verdict> verdict = parse_verdict(about, member.text());
  if (!verdict) member.fail("is none of " + verdict_names(about));
  Judgement judgement{.verdict = *verdict, .images = {}, .about = about};
  const JsonReader images = json.at("images");
  for (const JsonReader& image : images.items()) judgement.images.push_back(parse_image(image));
  const std::string fault = fault_of(about, *verdict, judgement.images);
  if (!fault.empty()) images.fail(fault);
  if (const auto names = json.find("names")) {
    for (const std::string& text : names->texts()) judgement.names.push_back(from_utf8(text));
  }
  return judgement;
}

Review parse_review(std::string_view text, const std::string& file) {
  Review review{.file = file, .judgements = {}, .sample = {}, .digest = {}};
  const std::size_t end = text.rfind('\n');
  review.complete_bytes = end == std::string_view::npos ? 0 : end + 1;
  review.cut_off = review.complete_bytes != text.size();
  text = text.substr(0, review.complete_bytes);
  review.digest = xxh3_128(as_bytes(text));
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin < text.size() || number == 0;) {
    const std::size_t stop = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, stop - begin);
    if (++number == 1) {
      check_header(line, file);
    } else {
      parse_line(reader_of(line, file, number), number, review);
    }
    begin = stop + 1;
  }
  return review;
}

Review read_review(const std::filesystem::path& file) {
  return parse_review(read_list_text(file), file.string());
}

std::string review_header() { return Json{{"schema", kSchema}}.dump() + "\n"; }

std::string review_line(const Judgement& judgement) {
  const std::string fault = fault_of(judgement.about, judgement.verdict, judgement.images);
  if (!fault.empty()) throw UsageError("a judgement " + fault);
  Json json{{member_of(judgement.about), verdict_name(judgement.verdict)},
            {"images", Json::array()}};
  for (const Hash128& image : judgement.images) json["images"].push_back(to_hex(image));
  for (const std::string& name : judgement.names) json["names"].push_back(to_utf8(name));
  return json.dump() + "\n";
}

std::string review_line(const PairSample& sample) {
  Json json{{"hash", sample.hash}, {"threshold", sample.threshold}, {"scope", sample.scope},
            {"seed", sample.seed}, {"certain", sample.certain},     {"strata", Json::array()}};
  if (sample.least_quality) json["least_quality"] = *sample.least_quality;
  for (const PairSample::Stratum& stratum : sample.strata) {
    Json drawn = Json::array();
    for (const auto& [a, b] : stratum.drawn) drawn.push_back({to_hex(a), to_hex(b)});
    json["strata"].push_back({{"distance", stratum.distance},
                              {"classes", stratum.classes},
                              {"splits", stratum.splits},
                              {"pairs", stratum.pairs},
                              {"drawn", std::move(drawn)}});
  }
  return Json{{"sample", std::move(json)}}.dump() + "\n";
}

std::vector<Judgement> last_said(std::span<const Review> reviews) {
  using Key = std::pair<About, std::vector<Hash128>>;
  std::map<Key, std::pair<std::uint32_t, std::size_t>> last;
  const auto for_each = [&](const auto& take) {
    for (std::uint32_t review = 0; review < reviews.size(); ++review) {
      for (std::size_t i = 0; i < reviews[review].judgements.size(); ++i) {
        const Judgement& judgement = reviews[review].judgements[i];
        std::vector<Hash128> images = judgement.images;
        std::ranges::sort(images);
        take(judgement, Key(judgement.about, std::move(images)), std::pair(review, i));
      }
    }
  };
  for_each([&](const Judgement&, Key key, const auto& at) { last[std::move(key)] = at; });
  std::vector<Judgement> in_force;
  for_each([&](const Judgement& judgement, const Key& key, const auto& at) {
    if (last.at(key) != at || judgement.verdict == Verdict::kNone) return;
    in_force.push_back(judgement);
    in_force.back().review = at.first;
  });
  return in_force;
}

}  // namespace winnow::dedup
