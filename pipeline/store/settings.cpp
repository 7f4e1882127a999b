#include "pipeline/store/settings.h"

#include <limits>

#include "common/error.h"
#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {

void write_to(Json& settings, const DecodeSettings& decode) {
  settings["max_pixels"] = decode.max_pixels;
  const DecodeSettings usual;
  if (decode.max_scans != usual.max_scans) settings["max_scans"] = decode.max_scans;
  if (decode.orientation != usual.orientation) {
    settings["orientation"] = orientation_name(decode.orientation);
  }
  if (decode.matte) settings["matte"] = to_text(*decode.matte);
}

std::string with_dropped(const std::string& settings, const std::string& decided_by) {
  Json out = settings.empty() ? Json::object() : parse_json(settings, "the settings of a manifest");
  if (!out.is_object()) throw FormatError("the settings of a manifest are no object");
  Json& dropped = out["dropped"];
  if (!dropped.is_array()) dropped = Json::array();
  dropped.push_back(decided_by.empty() ? Json::object()
                                       : parse_json(decided_by, "the settings of a selection"));
  return out.dump();
}

std::string without_dropped(const std::string& settings) {
  Json out = parse_json(settings, "the settings of a manifest");
  if (out.is_object()) out.erase("dropped");
  return out.dump();
}

void write_to(Json& settings, const ResizeSettings& resize, bool encoded) {
  if (resize.short_side_px == 0) return;
  settings["resize"] = resize.short_side_px;
  if (encoded) settings["quality"] = resize.quality;
}

void write_to(Json& settings, const VariantSettings& variants) {
  if (variants.copies == 0) return;
  settings["augment"] = {{"recipe", recipe_name(variants.recipe)},
                         {"copies", variants.copies},
                         {"height_px", variants.height_px},
                         {"width_px", variants.width_px},
                         {"seed", variants.seed}};
}

namespace {

constexpr auto kMostInt = static_cast<std::uint64_t>(std::numeric_limits<int>::max());

JsonObject settings_of(const Manifest& manifest) {
  const std::string where = "the settings of a manifest";
  return {manifest.settings.empty() ? Json::object() : parse_json(manifest.settings, where), where};
}

}  // namespace

ResizeSettings resize_settings(const Manifest& manifest) {
  const JsonObject in = settings_of(manifest);
  ResizeSettings resize;
  if (in.has("resize")) resize.short_side_px = static_cast<int>(in.number_to("resize", kMostInt));
  if (in.has("quality")) resize.quality = static_cast<int>(in.number_to("quality", 100));
  return resize;
}

VariantSettings variant_settings(const Manifest& manifest) {
  const JsonObject in = settings_of(manifest);
  if (!in.has("augment")) return {};
  const JsonObject made = in.object("augment");
  const auto number = [&](const char* field) {
    const auto value = static_cast<int>(made.number_to(field, kMostInt));
    if (value < 1) made.fail(std::string("'") + field + "' is below 1");
    return value;
  };
  VariantSettings variants{.copies = number("copies"),
                           .recipe = Recipe::kNone,
                           .height_px = number("height_px"),
                           .width_px = number("width_px"),
                           .seed = made.number("seed")};
  try {
    variants.recipe = parse_recipe(made.text("recipe"));
  } catch (const UsageError&) {
    made.fail("'recipe' is not one this winnow knows");
  }
  return variants;
}

DecodeSettings decode_settings(const Manifest& manifest) {
  const JsonObject in = settings_of(manifest);
  DecodeSettings decode;
  if (in.has("max_pixels")) decode.max_pixels = in.number("max_pixels");
  if (in.has("max_scans")) {
    decode.max_scans =
        static_cast<int>(in.number_to("max_scans", std::numeric_limits<int>::max() - 1));
  }
  if (in.has("orientation")) {
    const auto orientation = parse_orientation(in.text("orientation"));
    if (!orientation) in.fail("'orientation' is not one this winnow knows");
    decode.orientation = *orientation;
  }
  if (in.has("matte")) {
    decode.matte = parse_matte(in.text("matte"));
    if (!decode.matte) in.fail("'matte' is not a colour");
  }
  return decode;
}

}  // namespace winnow::pipeline
