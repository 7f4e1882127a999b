#include "train/run/run_state.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.h"
#include "common/json_text.h"

namespace winnow::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kStateVersion = 1;

// Not in checkpoints of older versions.
constexpr const char* kHits = "interval_hits";

Json to_json(const LossMean& mean) { return {{"sum", mean.sum}, {"count", mean.count}}; }

// Strict reading of one object of a file that may be damaged.
class Fields {
 public:
  Fields(const Json& object, const std::string& where) : object_(object), where_(where) {}

  std::uint64_t whole(const char* field, std::uint64_t most) const {
    return whole(object_.at(field), field, most);
  }
  std::uint64_t whole(const Json& value, const char* field, std::uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) fail(field);
    return value.get<std::uint64_t>();
  }
  double number(const char* field) const {
    const Json& value = object_.at(field);
    if (!value.is_number() || !std::isfinite(value.get<double>())) fail(field);
    return value.get<double>();
  }
  double number_from_0(const char* field) const {
    const double value = number(field);
    if (value < 0) fail(field);
    return value;
  }
  bool boolean(const char* field) const {
    if (!object_.at(field).is_boolean()) fail(field);
    return object_.at(field).get<bool>();
  }
  std::string text(const char* field) const {
    if (!object_.at(field).is_string()) fail(field);
    return object_.at(field).get<std::string>();
  }
  Fields object(const char* field) const {
    if (!object_.at(field).is_object()) fail(field);
    return {object_.at(field), where_};
  }
  const Json& json() const noexcept { return object_; }

  [[noreturn]] void fail(const std::string& field) const {
    throw FormatError(where_ + " is damaged: '" + field +
                      "' is nothing it can be; resume from an older checkpoint");
  }

 private:
  const Json& object_;
  const std::string& where_;
};

constexpr auto kMostSteps = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

LossMean parse_mean(const Fields& in) {
  return {in.number("sum"), static_cast<std::int64_t>(in.whole("count", kMostSteps))};
}

std::map<std::string, std::int32_t> parse_sums(const Fields& in) {
  std::map<std::string, std::int32_t> sums;
  for (const auto& [name, value] : in.object("sums").json().items()) {
    const bool good =
        value.is_number_integer() && std::in_range<std::int32_t>(value.get<std::int64_t>()) &&
        (!value.is_number_unsigned() || std::in_range<std::int32_t>(value.get<std::uint64_t>()));
    if (!good) in.fail("sums");
    sums[name] = value.get<std::int32_t>();
  }
  return sums;
}

std::vector<EpochCensus> parse_census(const Fields& in) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::vector<EpochCensus> rows;
  const Json& census = in.json().at("census");
  if (!census.is_array()) in.fail("census");
  for (const Json& row : census) {
    if (!row.is_array() || row.size() != 3) in.fail("census");
    rows.push_back({in.whole(row[0], "census", kMost), in.whole(row[1], "census", kMost),
                    in.whole(row[2], "census", kMost)});
    if (rows.back().epoch + 1 != rows.size()) in.fail("census");
  }
  return rows;
}

RunState parse_fields(const Fields& in) {
  RunState state;
  state.step = static_cast<std::int64_t>(in.whole("step", kMostSteps));
  state.epoch = in.number_from_0("epoch");
  state.writer.seed = in.whole("seed", std::numeric_limits<std::uint64_t>::max());
  state.writer.ranks = static_cast<int>(in.whole("ranks", std::numeric_limits<int>::max()));
  state.writer.plan = in.text("plan");
  state.evaluated = in.boolean("evaluated");
  state.losses.interval = parse_mean(in.object("interval_loss"));
  state.losses.epoch = parse_mean(in.object("epoch_loss"));
  state.losses.last_epoch = in.number("train_loss");
  if (in.json().contains(kHits)) {
    const Fields hits = in.object(kHits);
    state.interval_hits = {hits.number_from_0("correct"), hits.number_from_0("samples")};
  }
  state.sums = parse_sums(in);
  state.census = parse_census(in);
  return state;
}

}  // namespace

std::string to_text(const RunState& state) {
  Json census = Json::array();
  for (const EpochCensus& row : state.census) {
    census.push_back({row.epoch, row.samples, row.hash});
  }
  return Json{
             {"version", kStateVersion},
             {"step", state.step},
             {"epoch", state.epoch},
             {"seed", state.writer.seed},
             {"ranks", state.writer.ranks},
             {"plan", state.writer.plan},
             {"evaluated", state.evaluated},
             {"interval_loss", to_json(state.losses.interval)},
             {"epoch_loss", to_json(state.losses.epoch)},
             {"train_loss", state.losses.last_epoch},
             {kHits,
              {{"correct", state.interval_hits.correct}, {"samples", state.interval_hits.samples}}},
             {"sums", state.sums},
             {"census", std::move(census)}}
             .dump(1) +
         "\n";
}

RunState parse_state(const std::string& text, const std::string& where) {
  if (nests_deeper_than(text, kJsonLevels)) {
    throw FormatError(where + " is no state of a run, or damaged; resume from an older checkpoint");
  }
  try {
    const Json json = Json::parse(text);
    const Fields in(json, where);
    if (in.whole("version", std::numeric_limits<int>::max()) > kStateVersion) {
      throw FormatError(where + " was written by a newer winnow; use that one");
    }
    return parse_fields(in);
  } catch (const nlohmann::json::exception&) {
    throw FormatError(where + " is no state of a run, or damaged; resume from an older checkpoint");
  }
}

void check_state(const RunState& state, const BatchLayout& batches, const std::string& where) {
  if (state.step > batches.total_steps) {
    throw FormatError(where + " says that " + std::to_string(state.step) +
                      " steps are done, of a run of " + std::to_string(batches.total_steps) +
                      "; resume from an older checkpoint");
  }
  const std::int64_t images = state.step * batches.batch;
  const std::int64_t begun = (images + batches.samples - 1) / batches.samples;
  if (state.census.size() != static_cast<std::size_t>(begun)) {
    throw FormatError(where + " has a census of " + std::to_string(state.census.size()) +
                      " epochs, where " + std::to_string(begun) +
                      " are begun; resume from an older checkpoint");
  }
}

}  // namespace winnow::train
