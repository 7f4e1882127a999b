#include <memory>
#include <string>

#include "app/predict/run_predict.h"
#include "tools/command.h"
#include "tools/flags/flags.h"
#include "tools/help.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"
#include "tools/run_flags.h"
#include "train/evaluate/test_augmentation.h"
#include "train/nets/nets.h"

namespace winnow::tools {
namespace {

void add_table_flags(Verb verb, PredictCommand& o) {
  verb.add_option("--format", o.table,
                  "Format of the table: csv or jsonl, with a line for each image; or npy, with all "
                  "probabilities")
      .one_of({"csv", "jsonl", "npy"})
      .show_default();
  verb.add_option("--top", o.request.table.top, "Largest number of classes per image in the table")
      .check(whole_in(1, kMostCount))
      .show_default();
  verb.add_option(
          "--threshold", o.request.table.threshold,
          "For runs with --loss bce or focal: an image has the classes above this probability")
      .check(real_in(0, 1))
      .show_default();
  verb.add_flag("--features", o.request.net.with_features,
                "Also write features.npy: the feature vector of each image, for winnow embed");
  verb.add_option("--sort-into", o.request.table.sort_into,
                  "Make hard links of the images here, in a folder for each class");
  verb.add_option("--report", o.report,
                  "Write an HTML page here: counts, and for each class the images with the highest "
                  "and the lowest probability");
}

void add_window_flags(Verb whole, PredictCommand& o) {
  const Verb verb = whole.titled("Windows over large images");
  const Flag window = verb.add_option("--window", o.windows.window,
                                      "Predict each image in windows of this side in pixels, which "
                                      "is the net's input; images may be of any size")
                          .check(whole_in(1, train::kMostSidePx));
  verb.add_option("--overlap", o.windows.overlap,
                  "Overlap of neighbouring windows, as a share of their side")
      .check(real_in(0, 1))
      .show_default()
      .needs(window);
  verb.add_option("--scale", o.windows.scale,
                  "Scale of the image before windows are cut; with 0.5, a window covers twice the "
                  "width and height")
      .check(real_in(0.01, 100))
      .show_default()
      .needs(window);
  verb.add_option("--pool", o.pool,
                  "How the predictions of the windows are combined: mean, max of each class, or "
                  "top:0.1, the mean of the largest tenth")
      .show_default()
      .needs(window);
  verb.add_option(
          "--skip-flat", o.windows.skip_flat,
          "Skip windows of one colour: those whose pixel levels differ by at most this much")
      .check(whole_in(0, 255))
      .needs(window);
  const Flag map =
      verb.add_option("--map", o.windows.map.classes,
                      "Write a map of this class over each image, into FOLDER/maps; repeatable")
          .repeatable()
          .needs(window);
  verb.add_option("--map-step", o.windows.map.step_px,
                  "Distance between the points of a map, in pixels of the image; 0: a quarter of "
                  "the stride of the windows")
      .check(whole_in(0, kMostCount))
      .show_default()
      .needs(map);
  verb.add_option("--map-format", o.map_format, "Format of maps: npy, or tiff with 32-bit floats")
      .one_of({"npy", "tiff"})
      .show_default()
      .needs(map);
  verb.add_option("--min-map", o.windows.map.least,
                  "Write boxes.csv: boxes around the regions where a map reaches this probability")
      .check(real_in(0, 1))
      .needs(map);
  verb.add_option("--memory-limit", o.memory_mib,
                  "Memory limit of one image, in MiB: its maps, and its pixels if it cannot be "
                  "decoded in parts")
      .check(whole_in(1, kMostMib))
      .show_default()
      .needs(window);
}

}  // namespace

Command add_predict(Verb program) {
  auto o = std::make_shared<PredictCommand>();
  const Verb verb =
      program.add_verb("predict", "Predict the classes of unlabelled images by a trained run");
  verb.add_option("run", o->request.net.run,
                  "Run directory made by winnow train, one of its checkpoints, or a safetensors "
                  "file with torchvision's names");
  verb.add_option("sources", o->request.inputs.sources,
                  "What to predict: folders, archives, lists, images, or a cache");
  verb.add_option("--out", o->request.out, "Folder for the predictions");
  add_table_flags(verb, *o);
  add_window_flags(verb, *o);
  add_checkpoint_flags(verb, o->request.net.checkpoint);
  add_file_net_flags(verb, "a file", o->request.net.file);
  verb.add_option("--classes", o->request.net.classes,
                  "For nets that do not name their classes: a file of the class names in order, "
                  "one name a line or a JSON list");
  verb.add_option("--cache", o->request.net.cache,
                  "For nets that do not name their classes: the cache that they were trained on");
  verb.add_option("--tta", o->request.net.tta,
                  "Test-time augmentation: predict each image by the mean of several views of it");
  add_reading_flags(verb, o->reading, "--source-format");
  verb.add_option("--backend", o->request.backend, "Backend that computes").show_default();
  verb.add_option("--dtype", o->dtype, "Precision of activations")
      .one_of({"f32", "bf16", "f16", "tf32"})
      .show_default();
  verb.add_flag(
      "--alone", o->request.work.alone,
      "Take no locks, for a file system without locks; no other process may work in --out");
  verb.add_flag("--mixed-machines", o->request.work.mixed_machines,
                "Let machines with different instruction sets or libraries work together, although "
                "last digits of the predictions may differ");
  verb.add_flag("--status", o->status,
                "Show the progress of the work in --out, and the machines that do it");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  const std::string examples =
      R"(Images are prepared as by winnow eval. Unreadable inputs are in ledger.jsonl, with the reasons of
winnow ingest. After any interruption, the same command resumes. Started several times at once, on
one machine or on many that share the folder, processes share the work: each part is done once.

Examples:
  winnow predict run photos --out predicted
  winnow predict run more.tar --out more --format jsonl --top 1 --report more.html
  winnow predict run photos --out sorted --sort-into by-class
  winnow predict resnet50.safetensors photos --net resnet50 --classes imagenet.txt --out predicted
  winnow predict run slides --window 224 --map tumour --min-map 0.5 --out found
  winnow predict --status --out predicted)";
  verb.footer("Test-time augmentations; they average probabilities unless they say otherwise:" +
              table_of(train::test_augmentations()) + "\n\nFormats of sources:" + format_lines() +
              skipped_lines() + "\n\n" + examples);
  shorten_help(
      verb,
      {"--out", "--format", "--top", "--threshold", "--features", "--sort-into", "--report",
       "--checkpoint", "--tta", "--classes", "--status", "--threads", "--json"},
      examples);
  return {verb, true, [o](Session& session) { run_predict(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
