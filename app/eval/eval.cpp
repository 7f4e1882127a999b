#include "app/eval/eval.h"

#include <fmt/core.h>

#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"
#include "pipeline/store/cache.h"
#include "train/evaluate/test_augmentation.h"

namespace winnow::app {
namespace {

using Confusion = std::vector<std::vector<std::uint64_t>>;  // counts by [label][prediction]

Confusion confusion_of(const train::EvalResult& result) {
  Confusion confusion(result.classes.size(), std::vector<std::uint64_t>(result.classes.size()));
  for (std::size_t i = 0; i < result.evaluation.labels.size(); ++i) {
    if (result.evaluation.labels[i] < 0) continue;  // the sample has no label
    ++confusion[static_cast<std::size_t>(result.evaluation.labels[i])]
               [static_cast<std::size_t>(result.evaluation.predictions[i])];
  }
  return confusion;
}

// Prints the three classes that are most often mistaken for another.
void tell_confusions(const Session& session, const train::EvalResult& result,
                     const Confusion& confusion) {
  struct Pair {
    std::uint64_t count;
    std::size_t label;
    std::size_t prediction;
  };
  std::vector<Pair> pairs;
  for (std::size_t label = 0; label < confusion.size(); ++label) {
    for (std::size_t p = 0; p < confusion.size(); ++p) {
      if (p != label && confusion[label][p] > 0) pairs.push_back({confusion[label][p], label, p});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.count > b.count; });
  pairs.resize(std::min<std::size_t>(pairs.size(), 3));
  for (const Pair& pair : pairs) {
    say(session, fmt::format("  '{}' taken for '{}' {} times", result.classes[pair.label],
                             result.classes[pair.prediction], grouped(pair.count)));
  }
}

// All labels of a sample, as in a CSV of labels.
std::string label_text(const train::EvalResult& result, std::size_t sample) {
  const auto name = [&](std::int32_t label) {
    return result.classes[static_cast<std::size_t>(label)];
  };
  if (!result.several_labels) return name(result.evaluation.labels[sample]);
  std::string text;
  for (const std::int32_t label : (*result.several_labels)[sample]) {
    text += (text.empty() ? "" : "|") + name(label);
  }
  return text;
}

std::string predictions_csv(const train::EvalResult& result, const pipeline::Cache& cache) {
  const pipeline::LedgerNames name_of = cache.read_names();
  std::string csv = "id,name,label,prediction";
  const bool with_logits = !result.evaluation.logits.empty();
  for (const std::string& name : result.classes) {
    if (with_logits) csv += "," + csv_field("logit_" + name);
  }
  csv += '\n';
  for (std::size_t i = 0; i < result.ids.size(); ++i) {
    csv += fmt::format(
        "{},{},{},{}", result.ids[i], csv_field(name_of(result.ids[i])),
        csv_field(label_text(result, i)),
        csv_field(result.classes[static_cast<std::size_t>(result.evaluation.predictions[i])]));
    for (std::size_t k = 0; with_logits && k < result.classes.size(); ++k) {
      csv += fmt::format(
          // enough digits to read it back exactly
          ",{}", result.evaluation.logits[i * result.classes.size() + k]);
    }
    csv += '\n';
  }
  return csv;
}

Json to_json(const train::TestAugmentation& tta) {
  Json views = Json::array();
  for (const auto& [view, weight] : tta.views) {
    views.push_back({{"top_px", view.top_px},
                     {"left_px", view.left_px},
                     {"mirrored", view.mirrored},
                     {"weight", weight}});
  }
  return {{"name", tta.name}, {"mean_of", mean_of_name(tta.mean)}, {"views", std::move(views)}};
}

Json to_json(const train::EvalResult& result, const Confusion& confusion) {
  std::vector<std::string> names = result.classes;
  for (std::string& name : names) name = to_utf8(name);
  Json json{{"schema", "winnow.eval/1"},
            {"epoch", result.epoch},
            {"loss", result.evaluation.loss},
            {"top1", result.evaluation.top1},
            {"top1_leak_free", result.evaluation.top1_leak_free},
            {"split", result.split},
            {"samples", result.evaluation.samples},
            {"leaked", result.evaluation.leaked},
            {"images_per_second", result.images_per_second},
            {"classes", names},
            {"confusion", confusion}};
  if (const auto& mean = result.evaluation.mean_average_precision) {
    json["map"] = *mean;
    json["average_precision"] = result.evaluation.average_precisions;
  }
  return json;
}

train::EvalResult evaluate(const train::EvalOptions& options, Session& session) {
  const ProgressSink watch = stopping_bar(session, "eval", "batches",
                                          "stopped before the end; run the same command again");
  return train::evaluate_run(options, session.comm, watch,
                             [&](const std::string& sentence) { say(session, sentence); });
}

// Prints and writes the results, on rank 0. `options`: of this evaluation.
void tell(const EvalRequest& o, const train::EvalOptions& options, const train::EvalResult& result,
          const Session& session) {
  const Confusion confusion = confusion_of(result);
  say(session, fmt::format("{}{} accuracy {} on {}, loss {:.4f}",
                           o.caches.size() > 1 ? options.data.cache.string() + ": " : "",
                           result.split, percent(result.evaluation.top1),
                           count_of(result.evaluation.samples, "image"), result.evaluation.loss));
  const train::TestAugmentation* const tta =
      options.data.tta.empty() ? nullptr : &train::find_test_augmentation(options.data.tta);
  if (tta != nullptr) {
    say(session,
        fmt::format("the prediction of an image is the mean of the {} of {} views (--tta {})",
                    mean_of_name(tta->mean), tta->views.size(), tta->name));
  }
  if (result.evaluation.top1_leak_free) {
    say(session,
        fmt::format("accuracy {} without the {} a duplicate in the split train",
                    percent(*result.evaluation.top1_leak_free),
                    count_of(result.evaluation.leaked, "image that has", "images that have")));
  }
  if (const auto& mean = result.evaluation.mean_average_precision) {
    say(session,
        fmt::format("{} mean average precision over the classes; for accuracy, an image is "
                    "correct if one of its labels has the largest logit",
                    percent(*mean)));
  }
  tell_confusions(session, result, confusion);
  if (!o.predictions.empty()) {
    const std::filesystem::path& elsewhere = options.data.placement.files_at;
    write_file_durably(
        o.predictions,
        predictions_csv(result,
                        pipeline::Cache::open(elsewhere.empty() ? options.data.cache : elsewhere,
                                              pipeline::OpenOptions::without_shards())));
    say(session, fmt::format("predictions: {}", o.predictions.string()));
  }
  if (!o.json) return;
  Json json = to_json(result, confusion);
  if (tta != nullptr) json["tta"] = to_json(*tta);
  if (o.caches.size() > 1) json["cache"] = to_utf8(options.data.cache.string());
  print(session, fmt::format("{}\n", json.dump()));
}

void check(const EvalRequest& o) {
  if (!o.eval.data.tta.empty()) train::find_test_augmentation(o.eval.data.tta);
  if (o.eval.with_logits && o.predictions.empty()) {
    throw UsageError("--logits adds columns to the file of --predictions; give --predictions, too");
  }
  if (!o.predictions.empty() && (o.caches.size() > 1 || o.splits.size() > 1)) {
    throw UsageError(
        "--predictions writes one split of one cache; evaluate other splits and caches without it");
  }
}

}  // namespace

void run_eval(const EvalRequest& o, Session& session) {
  train::EvalOptions options = o.eval;
  comm::on_all(session.comm, [&] {
    options.dtype = train::parse_dtype(o.dtype);
    check(o);
  });
  options.threads = thread_plan(session, o.threads);
  for (const std::filesystem::path& cache : o.caches) {
    const pipeline::PlacedShards placed = place_shards(cache, o.memory, session);
    options.data.cache = cache;
    options.data.placement = placed.placement;
    for (const std::string& split : o.splits.empty() ? std::vector<std::string>{""} : o.splits) {
      options.data.split = split;
      const train::EvalResult result = evaluate(options, session);
      if (session.comm.rank() == 0) tell(o, options, result, session);
    }
  }
}

}  // namespace winnow::app
