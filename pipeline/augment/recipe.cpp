#include "pipeline/augment/recipe.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/row_called.h"

namespace winnow::pipeline {
namespace {

constexpr double kMost = 1e6;

constexpr std::string_view name_of(const ResizedCropStep&) { return "resized_crop"; }
constexpr std::string_view name_of(const CentreCropStep&) { return "centre_crop"; }
constexpr std::string_view name_of(const CropStep&) { return "crop"; }
constexpr std::string_view name_of(const FlipStep&) { return "flip"; }
constexpr std::string_view name_of(const AlternatingFlipStep&) { return "alternating_flip"; }
constexpr std::string_view name_of(const TranslateStep&) { return "translate"; }
constexpr std::string_view name_of(const JitterStep&) { return "jitter"; }
constexpr std::string_view name_of(const RandAugmentStep&) { return "rand_augment"; }
constexpr std::string_view name_of(const TrivialAugmentStep&) { return "trivial_augment"; }
constexpr std::string_view name_of(const AutoAugmentStep&) { return "auto_augment"; }
constexpr std::string_view name_of(const EraseStep&) { return "erase"; }
constexpr std::string_view name_of(const CutoutStep&) { return "cutout"; }
constexpr std::string_view name_of(const MixupStep&) { return "mixup"; }
constexpr std::string_view name_of(const CutmixStep&) { return "cutmix"; }

// Calls `field` with the name, value and limits of each parameter.
template <class S, class Field>
void for_each_field(S& step, Field&& field) {
  using T = std::remove_const_t<S>;
  if constexpr (std::is_same_v<T, ResizedCropStep>) {
    field("area", step.range.area, 1e-6, 1.0);
    field("ratio", step.range.ratio, 1e-3, 1e3);
  } else if constexpr (std::is_same_v<T, CentreCropStep>) {
    field("resize", step.resize_px, 1, 65'535);
  } else if constexpr (std::is_same_v<T, CropStep>) {
    field("padding", step.padding_px, 0, 65'535);
    field("mode", step.mode, 0, 0);
  } else if constexpr (std::is_same_v<T, FlipStep>) {
    field("p", step.probability, 0.0, 1.0);
  } else if constexpr (std::is_same_v<T, TranslateStep>) {
    field("x", step.x, 0.0, 1.0);
    field("y", step.y, 0.0, 1.0);
  } else if constexpr (std::is_same_v<T, JitterStep>) {
    field("brightness", step.jitter.brightness, 0.0, kMost);
    field("contrast", step.jitter.contrast, 0.0, kMost);
    field("saturation", step.jitter.saturation, 0.0, kMost);
    field("hue", step.jitter.hue, 0.0, 0.5);
  } else if constexpr (std::is_same_v<T, RandAugmentStep>) {
    field("count", step.options.count, 0, 100);
    field("magnitude", step.options.magnitude, 0, 1023);
    field("bins", step.options.bins, 2, 1024);
    field("interpolation", step.interpolation, 0, 0);
  } else if constexpr (std::is_same_v<T, TrivialAugmentStep>) {
    field("bins", step.bins, 2, 1024);
    field("interpolation", step.interpolation, 0, 0);
  } else if constexpr (std::is_same_v<T, AutoAugmentStep>) {
    field("policy", step.policy, 0, 0);
    field("interpolation", step.interpolation, 0, 0);
  } else if constexpr (std::is_same_v<T, EraseStep>) {
    field("p", step.erasing.probability, 0.0, 1.0);
    field("area", step.erasing.area, 0.0, 1.0);
    field("ratio", step.erasing.ratio, 1e-3, 1e3);
    field("value", step.value, 0, 255);
  } else if constexpr (std::is_same_v<T, CutoutStep>) {
    field("side", step.side_px, 0, 65'535);
    field("value", step.value, 0, 255);
  } else if constexpr (std::is_same_v<T, MixupStep> || std::is_same_v<T, CutmixStep>) {
    field("p", step.kind.probability, 0.0, 1.0);
    field("alpha", step.kind.alpha, 0.01, 100.0);
  } else {
    static_assert(std::is_same_v<T, AlternatingFlipStep>, "name the parameters of this step");
  }
}

constexpr std::string_view names_of(Padding) { return "zero reflect"; }
constexpr std::string_view names_of(Interpolation) { return "nearest bilinear"; }
constexpr std::string_view names_of(Policy) { return "imagenet cifar10 svhn"; }

// The parts of a text between separators.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

template <class Number>
bool read_number(std::string_view text, Number& value, Number least, Number most) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least &&
         value <= most;
}

// Parses a value within limits into `value`. Returns whether it is valid.
bool read(std::string_view text, int& value, int least, int most) {
  return read_number(text, value, least, most);
}
bool read(std::string_view text, double& value, double least, double most) {
  return read_number(text, value, least, most);
}
bool read(std::string_view text, Interval& value, double least, double most) {
  const auto ends = split(text, "..");
  return ends.size() == 2 && read_number(ends[0], value.low, least, most) &&
         read_number(ends[1], value.high, value.low, most);
}
bool read(std::string_view text, Colour& value, int least, int most) {
  const auto levels = split(text, "/");
  if (levels.size() != 1 && levels.size() != 3) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    int level = 0;
    if (!read_number(levels[levels.size() == 1 ? 0 : i], level, least, most)) return false;
    value[i] = static_cast<std::uint8_t>(level);
  }
  return true;
}
bool read(std::string_view text, Fill& value, int least, int most) {
  value.random = text == "random";
  if (!value.random) return read(text, value.colour, least, most);
  value.colour = kMeanColour;
  return true;
}
template <class Enum>
requires std::is_enum_v<Enum>
bool read(std::string_view text, Enum& value, int, int) {
  const auto names = split(names_of(value), " ");
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return false;
  value = static_cast<Enum>(found - names.begin());
  return true;
}

template <class Number>
std::string text_of_number(Number value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}
std::string text_of(int value) { return text_of_number(value); }
std::string text_of(double value) { return text_of_number(value); }
std::string text_of(const Interval& value) {
  return text_of_number(value.low) + ".." + text_of_number(value.high);
}
std::string text_of(const Colour& value) {
  return std::to_string(value[0]) + "/" + std::to_string(value[1]) + "/" + std::to_string(value[2]);
}
std::string text_of(const Fill& value) { return value.random ? "random" : text_of(value.colour); }
template <class Enum>
requires std::is_enum_v<Enum> std::string text_of(Enum value) {
  return std::string(split(names_of(value), " ")[static_cast<std::size_t>(value)]);
}

// Describes the allowed values.
template <class Value, class Bound>
std::string allowed(const Value& value, Bound least, Bound most) {
  if constexpr (std::is_enum_v<Value>) {
    std::string names(names_of(value));
    std::ranges::replace(names, ' ', '|');
    return names;
  } else {
    const std::string ends = "from " + text_of(least) + " to " + text_of(most);
    if constexpr (std::is_same_v<Value, Interval>) return "LOW..HIGH, each " + ends;
    if constexpr (std::is_same_v<Value, Colour>) return "a level or R/G/B, each " + ends;
    if constexpr (std::is_same_v<Value, Fill>) return "random, a level or R/G/B, each " + ends;
    return "a number " + ends;
  }
}

template <class S>
void set(S& step, std::string_view assignment) {
  const std::size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view text = assignment.substr(std::min(equals + 1, assignment.size()));
  const std::string of = " of " + std::string(name_of(step));
  bool found = false;
  std::string known;
  for_each_field(step, [&](std::string_view field, auto& value, auto least, auto most) {
    known += (known.empty() ? "" : ", ") + std::string(field);
    if (field != name) return;
    found = true;
    if (read(text, value, least, most)) return;
    throw UsageError("the " + std::string(name) + of + " cannot be '" + std::string(text) +
                     "'; give " + allowed(value, least, most));
  });
  if (found) return;
  throw UsageError("there is no parameter '" + std::string(name) + "'" + of + "; " +
                   (known.empty() ? "it has none" : "it has " + known));
}

template <class S>
std::string to_text(const S& step) {
  const S usual;
  std::vector<std::string> defaults;
  for_each_field(usual, [&](std::string_view, const auto& value, auto, auto) {
    defaults.push_back(text_of(value));
  });
  std::string text(name_of(step));
  std::size_t i = 0;
  char before = ':';
  for_each_field(step, [&](std::string_view name, const auto& value, auto, auto) {
    const std::string now = text_of(value);
    if (now == defaults[i++]) return;
    text += before + std::string(name) + "=" + now;
    before = ',';
  });
  return text;
}

// One step of each kind, with its defaults.
template <std::size_t... kKinds>
std::array<Step, sizeof...(kKinds)> kinds(std::index_sequence<kKinds...>) {
  return {Step(std::in_place_index<kKinds>)...};
}
auto all_kinds() { return kinds(std::make_index_sequence<std::variant_size_v<Step>>()); }

std::string_view name_of(const Step& step) {
  return std::visit([](const auto& s) { return name_of(s); }, step);
}

Step parse_step(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (Step step : all_kinds()) {
    if (name_of(step) != name) continue;
    if (colon == std::string_view::npos) return step;
    for (const std::string_view assignment : split(text.substr(colon + 1), ",")) {
      std::visit([&](auto& s) { set(s, assignment); }, step);
    }
    const auto* rand = std::get_if<RandAugmentStep>(&step);
    if (rand != nullptr && rand->options.magnitude >= rand->options.bins) {
      throw UsageError("the magnitude of rand_augment is " +
                       std::to_string(rand->options.magnitude) + ", but must be below its " +
                       std::to_string(rand->options.bins) + " bins");
    }
    return step;
  }
  std::vector<std::string> known{"none", "cifar", "imagenet"};
  for (const Step& step : all_kinds()) known.emplace_back(name_of(step));
  const std::string meant = nearest_word(name, known);
  throw UsageError("there is no augmentation called '" + std::string(name) + "'; " +
                   (meant.empty() ? "" : "did you mean " + meant + "? Otherwise ") +
                   "use none, cifar, imagenet or steps that winnow train --help lists");
}

struct Named {
  std::string_view name;
  const Recipe& recipe;
};
constexpr Named kNamed[] = {
    {"none", Recipe::kNone}, {"cifar", Recipe::kCifar}, {"imagenet", Recipe::kImageNet}};

bool comes_first(const Step& step) noexcept {
  return std::holds_alternative<ResizedCropStep>(step) ||
         std::holds_alternative<CentreCropStep>(step);
}

bool comes_last(const Step& step) noexcept {
  return std::holds_alternative<MixupStep>(step) || std::holds_alternative<CutmixStep>(step);
}

// Checks whether a step may follow the others of a recipe.
void check_place(const Recipe& recipe, const Step& step) {
  if (recipe.size == Recipe::kMostSteps) {
    throw UsageError("an augmentation has at most " + std::to_string(Recipe::kMostSteps) +
                     " steps");
  }
  if (recipe.size > 0 && comes_first(step)) {
    throw UsageError(std::string(name_of(step)) + " must be the first step, because it decides " +
                     "which part of the picture is used");
  }
  for (std::size_t i = 0; i < recipe.size; ++i) {
    if (!comes_last(recipe.steps[i])) continue;
    const std::string name(name_of(recipe.steps[i]));
    if (!comes_last(step)) {
      throw UsageError(name + " must be the last step, because it mixes finished samples; put " +
                       std::string(name_of(step)) + " before it");
    }
    if (recipe.steps[i].index() == step.index()) {
      throw UsageError(name + " can be used only once");
    }
  }
}

}  // namespace

bool brings_to_size(const Recipe& recipe) noexcept {
  return recipe.size > 0 && comes_first(recipe.steps[0]);
}

Mixing mixing_of(const Recipe& recipe) noexcept {
  Mixing mixing;
  for (std::size_t i = 0; i < recipe.size; ++i) {
    if (const auto* mixup = std::get_if<MixupStep>(&recipe.steps[i])) mixing.mixup = mixup->kind;
    if (const auto* cutmix = std::get_if<CutmixStep>(&recipe.steps[i])) {
      mixing.cutmix = cutmix->kind;
    }
  }
  return mixing;
}

bool mixes(const Recipe& recipe) noexcept { return mixing_of(recipe) != Mixing{}; }

Recipe parse_recipe(std::string_view text) {
  Recipe recipe;
  if (text == recipe_name(Recipe::kNone)) return recipe;
  const auto add = [&](Step step) {
    check_place(recipe, step);
    recipe.steps[recipe.size++] = std::move(step);
  };
  for (const std::string_view part : split(text, "+")) {
    const auto* named = std::ranges::find(kNamed, part, &Named::name);
    if (named == std::end(kNamed) || named->recipe.size == 0) {
      add(parse_step(part));
    } else {
      for (std::size_t i = 0; i < named->recipe.size; ++i) add(named->recipe.steps[i]);
    }
  }
  return recipe;
}

std::string recipe_name(const Recipe& recipe) {
  for (const Named& named : kNamed) {
    if (named.recipe == recipe) return std::string(named.name);
  }
  std::string text;
  for (std::size_t i = 0; i < recipe.size; ++i) {
    text += i == 0 ? "" : "+";
    text += std::visit([](const auto& step) { return to_text(step); }, recipe.steps[i]);
  }
  return text;
}

std::string recipe_help() {
  std::string help;
  for (const Step& kind : all_kinds()) {
    std::visit(
        [&](const auto& step) {
          std::string line = "  " + std::string(name_of(step));
          char before = ':';
          for_each_field(step, [&](std::string_view name, const auto& value, auto, auto) {
            line += before + std::string(name) + "=" + text_of(value);
            before = ',';
          });
          help += line + "\n";
        },
        kind);
  }
  return help;
}

}  // namespace winnow::pipeline
