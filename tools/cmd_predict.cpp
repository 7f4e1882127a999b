#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/predict/predict.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "pipeline/store/ledger.h"
#include "tools/checkpoint_flags.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "app/dedup/gallery.h"
#include "tools/help.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"
#include "app/predict/predict_page.h"
#include "tools/progress_bar.h"
#include "train/evaluate/test_augmentation.h"
#include "train/nets/nets.h"

namespace winnow::tools {
namespace {

using Json = nlohmann::ordered_json;

struct PredictFlags {
  app::PredictRequest request;
  ReadingOptions reading;
  std::string table = "csv";
  std::string dtype = "f32";
  app::WindowOptions windows;
  std::string pool = "mean";
  std::string map_format = "npy";
  std::uint64_t memory_mib = 2048;
  std::filesystem::path report;
  bool status = false;
  bool json = false;
};

Json to_json(const app::PredictReport& report) {
  Json by_class = Json::array();
  for (std::size_t k = 0; k < report.classes.size(); ++k) {
    by_class.push_back({{"class", report.classes[k]}, {"images", report.by_class[k].images}});
  }
  Json by_fate;
  for (const auto& [name, count] : pipeline::by_name(report.by_fate)) by_fate[name] = count;
  return {{"schema", "winnow.predict/1"},
          {"images", report.images},
          {"inputs", std::move(by_fate)},
          {"classes", std::move(by_class)},
          {"without_class", report.without_class},
          {"dimensions", report.dimensions},
          {"windows", report.windows},
          {"flat_windows", report.flat_windows},
          {"boxes", report.boxes},
          {"files", report.files},
          {"machines", report.machines},
          {"was_there", report.was_there},
          {"predicted_here", report.predicted_here},
          {"seconds", report.seconds}};
}

void tell(const PredictFlags& o, const Session& session, const app::PredictReport& report) {
  const std::string out = o.request.out.string();
  const std::uint64_t readable = report.by_fate[static_cast<std::size_t>(pipeline::Fate::kOk)];
  if (report.was_there) {
    say(session, fmt::format("{} has these predictions already", out));
  }
  say(session, fmt::format("{} images predicted into {}: {}", grouped(readable), out,
                           fmt::join(report.files, ", ")));
  if (report.images > readable) {
    say(session, fmt::format("{} of {} inputs could not be read: see {}/ledger.jsonl",
                             grouped(report.images - readable), grouped(report.images), out));
  }
  if (report.windows > 0) {
    say(session,
        fmt::format("{} windows{}{}", grouped(report.windows),
                    report.flat_windows > 0 ? fmt::format(", {} of one colour and left out",
                                                          grouped(report.flat_windows))
                                            : "",
                    o.windows.map.least ? fmt::format(", {} boxes", grouped(report.boxes)) : ""));
  }
  if (report.without_class > 0) {
    say(session, fmt::format("{} images have no class above {}", grouped(report.without_class),
                             o.request.table.threshold));
  }
  if (o.request.table.format == app::TableFormat::kNpy) {
    say(session,
        "columns of predictions.npy are the classes of classes.json in their order, rows "
        "the images of names.txt");
  }
  if (report.machines.size() > 1) {
    say(session, fmt::format("machines of {} kinds worked on it, whose last digits differ: {}",
                             report.machines.size(), fmt::join(report.machines, "; ")));
  }
  if (report.predicted_here > 0 && report.seconds > 0) {
    say(session, fmt::format("{} images here in {}, {:.0f} a second",
                             grouped(report.predicted_here), in_seconds(report.seconds),
                             static_cast<double>(report.predicted_here) / report.seconds));
  }
  if (o.json) fmt::print("{}\n", to_json(report).dump());
}

void tell_status(const PredictFlags& o, const Session& session) {
  const app::PredictStatus status = app::predict_status(o.request.out);
  const std::string out = o.request.out.string();
  if (o.json) {
    Json json{{"schema", "winnow.predict_status/1"},
              {"tasks", status.tasks},
              {"done", status.done},
              {"finished", status.finished},
              {"workers", status.workers},
              {"seconds_left", nullptr}};
    if (status.seconds_left) json["seconds_left"] = *status.seconds_left;
    fmt::print("{}\n", json.dump());
  }
  if (status.finished) return say(session, fmt::format("{} is finished", out));
  say(session, fmt::format("{} of {} tasks done", grouped(status.done), grouped(status.tasks)));
  for (const std::string& worker : status.workers) {
    say(session, fmt::format("at work: {}", worker));
  }
  if (status.workers.empty()) {
    say(session, "nobody is seen at work; the same command goes on");
  }
  if (status.seconds_left) {
    say(session, fmt::format("about {} left at this rate", in_seconds(*status.seconds_left)));
  }
}

// What flags of windows say; nothing where images are shown whole.
std::optional<app::WindowOptions> windows_of(const PredictFlags& o) {
  app::WindowOptions windows = o.windows;
  if (windows.window == 0) return std::nullopt;
  windows.pool = app::parse_pool(o.pool);
  windows.map.tiff = o.map_format == "tiff";
  windows.memory_bytes = o.memory_mib << 20;
  return windows;
}

void run(PredictFlags o, Session& session) {
  if (o.status) {
    if (o.request.out.empty()) throw UsageError("say by --out FOLDER whose status it is");
    return tell_status(o, session);
  }
  comm::on_all(session.comm, [&] {
    if (o.request.net.run.empty()) {
      throw UsageError(
          "name a run, and what is to be predicted: winnow predict RUN photos --out "
          "FOLDER");
    }
    if (!o.report.empty()) check_report_path(o.report);
    o.request.dtype = train::parse_dtype(o.dtype);
    o.request.windows = windows_of(o);
    o.request.table.format = app::parse_table_format(o.table);
    o.request.inputs.open = open_options(o.reading);
    o.request.inputs.decode = ingest_options(o.reading, session).decode;
  });
  o.request.inputs.stop = session.stop;
  app::PredictSession with{
      .comm = session.comm,
      .threads = thread_plan(session, o.reading.ingest.work.threads),
      .stop = session.stop,
      .note = [&](const std::string& sentence) { say(session, sentence); },
      .progress = make_stopping_bar(session, "predict", o.request.windows ? "windows" : "images",
                                    "stopped; what is done is kept, run the same command again")};
  const app::PredictReport report = app::predict(o.request, with);
  if (session.comm.rank() != 0) return;
  tell(o, session, report);
  if (o.report.empty()) return;
  write_file_durably(o.report, html_of(read_predict_page(o.request, report), made_here()));
  say(session, fmt::format("report: {}", o.report.string()));
}

void add_table_flags(Verb verb, PredictFlags& o) {
  verb.add_option("--format", o.table,
                  "predictions.csv, a line an image; .jsonl; or .npy with all probabilities")
      .one_of({"csv", "jsonl", "npy"})
      .show_default();
  verb.add_option("--top", o.request.table.top, "Classes of an image in the table, at most")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option("--threshold", o.request.table.threshold,
                  "Runs of bce and focal: an image has the classes above this probability")
      .check(real_in(0, 1))
      .show_default();
  verb.add_flag("--features", o.request.net.with_features,
                "Write features.npy, too: the vector of each image, as winnow embed takes it");
  verb.add_option("--sort-into", o.request.table.sort_into,
                  "Make hard links of the images here, in a folder for each class");
  verb.add_option("--report", o.report,
                  "Write a page here, an HTML file: counts, and of each class the surest and the "
                  "least sure images");
}

void add_window_flags(Verb verb, PredictFlags& o) {
  const Flag window =
      verb.add_option(
              "--window", o.windows.window,
              "Go over each image by windows of so many pixels a side, as the net is shown; "
              "images may be of any size")
          .check(whole_in(1, train::kMostSidePx));
  verb.add_option("--overlap", o.windows.overlap, "Share of a window that the next one has, too")
      .check(real_in(0, 1))
      .in_shares()
      .show_default()
      .needs(window);
  verb.add_option("--scale", o.windows.scale,
                  "Of the image that windows see: 0.5 looks from farther away")
      .check(real_in(0.01, 100))
      .show_default()
      .needs(window);
  verb.add_option("--pool", o.pool,
                  "What an image gets of its windows: the mean, the max of each class, or top:0.1, "
                  "the mean of the largest tenth")
      .show_default()
      .needs(window);
  verb.add_option("--skip-flat", o.windows.skip_flat,
                  "Leave out windows of one colour: whose levels lie so close or closer")
      .check(whole_in(0, 255))
      .needs(window);
  const Flag map =
      verb.add_option("--map", o.windows.map.classes,
                      "Write a map of this class over each image, into FOLDER/maps; repeatable")
          .repeatable()
          .needs(window);
  verb.add_option("--map-step", o.windows.map.step_px,
                  "Pixels of the image for a point of its maps; 0: a quarter of the stride")
      .check(whole_in(0, kMostCount))
      .show_default()
      .needs(map);
  verb.add_option("--map-format", o.map_format, "Of maps: npy, or TIFF of 32-bit floats")
      .one_of({"npy", "tiff"})
      .show_default()
      .needs(map);
  verb.add_option("--min-map", o.windows.map.least,
                  "Write boxes.csv: where maps reach this probability")
      .check(real_in(0, 1))
      .needs(map);
  verb.add_option("--memory-limit", o.memory_mib,
                  "MiB that one image may take, its maps and what cannot be decoded in parts")
      .check(whole_in(1, kMostMib))
      .show_default()
      .needs(window);
}

}  // namespace

Command add_predict(Verb program) {
  auto o = std::make_shared<PredictFlags>();
  const Verb verb = program.add_verb(
      "predict", "Predict the classes of images that need no labels, by a trained run");
  verb.add_option("run", o->request.net.run,
                  "Run directory made by winnow train, one of its checkpoints, or a safetensors "
                  "file with torchvision's names");
  verb.add_option("sources", o->request.inputs.sources,
                  "What to predict: folders, archives, lists, images, or a cache");
  verb.add_option("--out", o->request.out, "Folder that predictions go to");
  add_table_flags(verb, *o);
  add_window_flags(verb, *o);
  add_checkpoint_flags(verb, o->request.net.checkpoint);
  add_file_net_flags(verb, "a file", o->request.net.file);
  verb.add_option("--classes", o->request.net.classes,
                  "For nets that do not name their classes: a file of the names in their order, a "
                  "line each or a JSON list");
  verb.add_option("--cache", o->request.net.cache,
                  "For nets that do not name their classes: the cache that they were trained on");
  verb.add_option("--tta", o->request.net.tta,
                  "Test-time augmentation: predict each image by the mean of several views of it");
  add_reading_flags(verb, o->reading, "--source-format");
  verb.add_option("--backend", o->request.backend, "What computes").show_default();
  verb.add_option("--dtype", o->dtype, "Precision of activations")
      .one_of({"f32", "bf16", "f16", "tf32"})
      .show_default();
  verb.add_flag("--alone", o->request.alone,
                "No other process works in --out: take no locks, as where a file system has none");
  verb.add_flag("--mixed-machines", o->request.mixed_machines,
                "Let machines work on it that differ in instructions or libraries, and so in the "
                "last digits");
  verb.add_flag("--status", o->status, "Say how far the work in --out is, and who does it");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  const std::string examples =
      R"(Images are shown to the net as winnow eval shows them. Inputs that cannot be read are in
ledger.jsonl, each in a class, as winnow ingest books them. The same command goes on after anything
that ended it. Started several times at once, on one machine or on many that share the folder, it
shares the work: each part is done once.

Examples:
  winnow predict run photos --out predicted
  winnow predict run more.tar --out more --format jsonl --top 1 --report more.html
  winnow predict run photos --out sorted --sort-into by-class
  winnow predict resnet50.safetensors photos --net resnet50 --classes imagenet.txt --out predicted
  winnow predict run slides --window 224 --map tumour --min-map 0.5 --out found
  winnow predict --status --out predicted)";
  verb.footer("Test-time augmentations, of probabilities where nothing else is said:" +
              table_of(train::test_augmentations()) + "\n\nFormats of sources:" + format_lines() +
              passed_over_lines() + "\n\n" + examples);
  shorten_help(
      verb,
      {"--out", "--format", "--top", "--threshold", "--features", "--sort-into", "--report",
       "--checkpoint", "--tta", "--classes", "--status", "--threads", "--json"},
      examples);
  return {verb, true, [o](Session& session) { run(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
