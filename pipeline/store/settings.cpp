#include "pipeline/store/settings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace {

constexpr std::array<std::string_view, 11> kFields{
    "store",       "hashes", "thumbnails", "shard_bytes", "max_pixels", "max_scans",
    "orientation", "matte",  "resize",     "quality",     "augment"};
constexpr const char* kDropped = "dropped";

void write_decode(Json& out, const DecodeSettings& decode) {
  out["max_pixels"] = decode.max_pixels;
  const DecodeSettings usual;
  if (decode.max_scans != usual.max_scans) out["max_scans"] = decode.max_scans;
  if (decode.orientation != usual.orientation) {
    out["orientation"] = orientation_name(decode.orientation);
  }
  if (decode.matte) out["matte"] = to_text(*decode.matte);
}

DecodeSettings parse_decode(const JsonReader& in) {
  DecodeSettings decode;
  if (const auto value = in.find("max_pixels")) decode.max_pixels = value->number();
  if (const auto value = in.find("max_scans")) {
    decode.max_scans = value->number(std::numeric_limits<int>::max() - 1);
  }
  if (const auto value = in.find("orientation")) {
    const auto orientation = parse_orientation(value->text());
    if (!orientation) value->fail("is not one this winnow knows");
    decode.orientation = *orientation;
  }
  if (const auto value = in.find("matte")) {
    decode.matte = parse_matte(value->text());
    if (!decode.matte) value->fail("is not a colour");
  }
  return decode;
}

StoredVariants parse_variants(const JsonReader& in) {
  const auto number = [&](const char* field) {
    const int value = in.at(field).number<int>();
    if (value < 1) in.at(field).fail("is below 1");
    return value;
  };
  return {.copies = number("copies"),
          .recipe = in.at("recipe").text(),
          .height_px = number("height_px"),
          .width_px = number("width_px"),
          .seed = in.at("seed").number()};
}

Json parse_opaque(const std::string& text, const std::string& where) {
  return JsonReader(text, {where}).json();
}

}  // namespace

Json to_json(const CacheSettings& settings) {
  if (settings == CacheSettings{}) return {};
  Json out = Json::object();
  if (!settings.store.empty()) {
    out["store"] = settings.store;
    out["hashes"] = settings.fingerprints.hashes;
    if (settings.fingerprints.thumbnails) out["thumbnails"] = true;
    out["shard_bytes"] = settings.shard_bytes;
  }
  write_decode(out, settings.decode);
  if (settings.resize.short_side_px > 0) {
    out["resize"] = settings.resize.short_side_px;
    if (settings.store == "original") out["quality"] = settings.resize.quality;
  }
  const StoredVariants& variants = settings.variants;
  if (variants.copies > 0) {
    out["augment"] = {{"recipe", variants.recipe},
                      {"copies", variants.copies},
                      {"height_px", variants.height_px},
                      {"width_px", variants.width_px},
                      {"seed", variants.seed}};
  }
  Json::Object& members = out.members();
  // There may be many, and out[name] would search all of them.
  for (const auto& [name, value] : settings.rest) {
    members.emplace_back(name, parse_opaque(value, "the setting '" + name + "' of a cache"));
  }
  for (const std::string& decision : settings.dropped) {
    out[kDropped].push_back(parse_opaque(decision, "what was left out of a cache"));
  }
  return out;
}

CacheSettings parse_settings(const JsonReader& in) {
  CacheSettings out;
  if (in.is_null()) return out;
  if (const auto value = in.find("store")) out.store = value->text();
  if (const auto value = in.find("hashes")) out.fingerprints.hashes = value->texts();
  if (const auto value = in.find("thumbnails")) out.fingerprints.thumbnails = value->boolean();
  if (const auto value = in.find("shard_bytes")) out.shard_bytes = value->number();
  out.decode = parse_decode(in);
  if (const auto value = in.find("resize")) out.resize.short_side_px = value->number<int>();
  if (const auto value = in.find("quality")) out.resize.quality = value->number(100);
  if (const auto value = in.find("augment")) out.variants = parse_variants(*value);
  for (const auto& [name, value] : in.members()) {
    if (name == kDropped) {
      for (const JsonReader& decision : value.items()) out.dropped.push_back(decision.dump());
    } else if (std::ranges::find(kFields, name) == kFields.end()) {
      out.rest[name] = value.dump();
    }
  }
  return out;
}

CacheSettings with_dropped(CacheSettings settings, const std::string& decided_by,
                           const std::string& where) {
  constexpr int kLevelsAbove = 3;  // in a manifest: itself, its settings, `dropped`
  const std::string text = decided_by.empty() ? "{}" : decided_by;
  const JsonReader decision(
      text, {where, "make the selection again with winnow dedup", kJsonLevels - kLevelsAbove});
  decision.members();  // throws unless it is an object
  settings.dropped.push_back(decision.dump());
  return settings;
}

CacheSettings without_dropped(CacheSettings settings) {
  settings.dropped.clear();
  return settings;
}

std::string to_text(const CacheSettings& settings) { return to_json(settings).dump(); }

std::vector<std::pair<std::string, std::string>> entries(const CacheSettings& settings) {
  std::vector<std::pair<std::string, std::string>> out;
  const Json json = to_json(settings);
  if (json.is_null()) return out;
  for (const auto& [name, value] : json.members()) {
    out.emplace_back(name, value.is_string() ? value.text() : value.dump());
  }
  return out;
}

}  // namespace winnow::pipeline
