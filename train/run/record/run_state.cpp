#include "train/run/record/run_state.h"

#include <limits>
#include <utility>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"

namespace winnow::train {
namespace {

constexpr int kStateVersion = 1;

// Missing in checkpoints of older versions.
constexpr const char* kHits = "interval_hits";
// Only for runs that keep the best checkpoint.
constexpr const char* kBest = "best";
// For runs in f16 with an adaptive loss scale.
constexpr const char* kLossScale = "loss_scale";
// For stages with loss scales of their own, and for nets with local updates.
constexpr const char* kLossScales = "loss_scales";
constexpr const char* kHeads = "heads";

Json to_json(const LossMean& mean) { return {{"sum", mean.sum}, {"count", mean.count}}; }

Json to_json(const LossScale& scale) {
  return {{"factor", scale.factor}, {"clean_steps", scale.clean_steps}};
}

LossMean parse_mean(const JsonReader& in) {
  return {in.at("sum").real(), in.at("count").number(kMostSteps)};
}

std::map<std::string, std::int32_t> parse_sums(const JsonReader& in) {
  using Limits = std::numeric_limits<std::int32_t>;
  std::map<std::string, std::int32_t> sums;
  for (const auto& [name, value] : in.members()) {
    sums[name] = value.integer(Limits::min(), Limits::max());
  }
  return sums;
}

std::vector<EpochCensus> parse_census(const JsonReader& in) {
  std::vector<EpochCensus> rows;
  for (const JsonReader& row : in.items()) {
    const std::vector<std::uint64_t> numbers = row.numbers(3);
    rows.push_back({numbers[0], numbers[1], numbers[2]});
    if (rows.back().epoch + 1 != rows.size()) row.fail("is not the epoch after the previous one");
  }
  return rows;
}

BestEvaluation parse_best(const JsonReader& in, std::int64_t step) {
  return {.metric = in.at("metric").text(),
          .value = in.at("value").real(),
          .step = in.at("step").number(step),
          .since = in.at("since").number(step)};
}

LossScale parse_loss_scale(const JsonReader& in) {
  const JsonReader factor = in.at("factor");
  if (!is_loss_scale(factor.real())) factor.fail("is not a loss scale");
  return {.factor = factor.real(),
          .adapts = true,
          .clean_steps = in.at("clean_steps").number(kLossScaleInterval - 1)};
}

RunState parse_fields(const JsonReader& in) {
  RunState state;
  state.step = in.at("step").number(kMostSteps);
  state.epoch = in.at("epoch").real_from_0();
  state.writer.seed = in.at("seed").number();
  state.writer.ranks = in.at("ranks").number<int>();
  state.writer.plan = in.at("plan").text();
  state.evaluated = in.at("evaluated").boolean();
  state.losses.interval = parse_mean(in.at("interval_loss"));
  state.losses.epoch = parse_mean(in.at("epoch_loss"));
  state.losses.last_epoch = in.at("train_loss").real();
  if (const auto hits = in.find(kHits)) {
    state.interval_hits = {hits->at("correct").real_from_0(), hits->at("samples").real_from_0()};
  }
  state.sums = parse_sums(in.at("sums"));
  state.census = parse_census(in.at("census"));
  if (const auto best = in.find(kBest)) state.best = parse_best(*best, state.step);
  if (const auto scale = in.find(kLossScale)) state.loss_scales = {parse_loss_scale(*scale)};
  if (const auto scales = in.find(kLossScales)) {
    for (const JsonReader& scale : scales->items()) {
      state.loss_scales.push_back(parse_loss_scale(scale));
    }
  }
  if (const auto heads = in.find(kHeads)) {
    for (const JsonReader& head : heads->items()) {
      state.heads.push_back(
          {.loss = parse_mean(head.at("loss")), .correct = head.at("correct").real_from_0()});
    }
  }
  return state;
}

}  // namespace

std::string to_text(const RunState& state) {
  Json census = Json::array();
  for (const EpochCensus& row : state.census) {
    census.push_back({row.epoch, row.samples, row.hash});
  }
  Json json{
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
      {kHits, {{"correct", state.interval_hits.correct}, {"samples", state.interval_hits.samples}}},
      {"sums", state.sums},
      {"census", std::move(census)}};
  if (const auto& best = state.best) {
    json[kBest] = {{"metric", best->metric},
                   {"value", best->value},
                   {"step", best->step},
                   {"since", best->since}};
  }
  if (state.loss_scales.size() == 1) json[kLossScale] = to_json(state.loss_scales.front());
  if (state.loss_scales.size() > 1) {
    for (const LossScale& scale : state.loss_scales) json[kLossScales].push_back(to_json(scale));
  }
  for (const HeadInterval& head : state.heads) {
    json[kHeads].push_back({{"loss", to_json(head.loss)}, {"correct", head.correct}});
  }
  return json.dump(1) + "\n";
}

RunState parse_state(const std::string& text, const std::string& where) {
  const JsonReader in(text, {where, "resume from an older checkpoint"});
  if (in.at("version").number<int>() > kStateVersion) {
    throw FormatError(where + " was written by a newer winnow; use that one");
  }
  return parse_fields(in);
}

void check_state(const RunState& state, const BatchLayout& batches, const std::string& where) {
  if (state.step > batches.total_steps) {
    throw FormatError(where + " says that " + std::to_string(state.step) +
                      " steps are done, but the run has only " +
                      std::to_string(batches.total_steps) + "; resume from an older checkpoint");
  }
  const std::int64_t images = state.step * batches.batch;
  const std::int64_t begun = (images + batches.samples - 1) / batches.samples;
  if (state.census.size() != static_cast<std::size_t>(begun)) {
    throw FormatError(where + " has a census of " + std::to_string(state.census.size()) +
                      " epochs instead of " + std::to_string(begun) +
                      "; resume from an older checkpoint");
  }
}

}  // namespace winnow::train
