#include "train/run/run_state.h"

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/json_text.h"

namespace winnow::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kStateVersion = 1;

Json to_json(const LossMean& mean) { return {{"sum", mean.sum}, {"count", mean.count}}; }

LossMean parse_mean(const Json& json) { return {json.at("sum"), json.at("count")}; }

}  // namespace

std::string to_text(const RunState& state) {
  Json census = Json::array();
  for (const EpochCensus& row : state.census) {
    census.push_back({row.epoch, row.samples, row.hash});
  }
  return Json{{"version", kStateVersion},
              {"step", state.step},
              {"epoch", state.epoch},
              {"seed", state.writer.seed},
              {"ranks", state.writer.ranks},
              {"plan", state.writer.plan},
              {"evaluated", state.evaluated},
              {"interval_loss", to_json(state.losses.interval)},
              {"epoch_loss", to_json(state.losses.epoch)},
              {"train_loss", state.losses.last_epoch},
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
    if (json.at("version").get<int>() > kStateVersion) {
      throw FormatError(where + " was written by a newer winnow; use that one");
    }
    RunState state;
    state.step = json.at("step");
    state.epoch = json.at("epoch");
    state.writer.seed = json.at("seed");
    state.writer.ranks = json.at("ranks");
    state.writer.plan = json.at("plan");
    state.evaluated = json.at("evaluated");
    state.losses.interval = parse_mean(json.at("interval_loss"));
    state.losses.epoch = parse_mean(json.at("epoch_loss"));
    state.losses.last_epoch = json.at("train_loss");
    state.sums = json.at("sums").get<std::map<std::string, std::int32_t>>();
    for (const Json& row : json.at("census")) {
      state.census.push_back({row.at(0), row.at(1), row.at(2)});
    }
    return state;
  } catch (const nlohmann::json::exception&) {
    throw FormatError(where + " is no state of a run, or damaged; resume from an older checkpoint");
  }
}

}  // namespace winnow::train
