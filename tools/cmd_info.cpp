
#include "app/info/info.h"
#include "app/info/issues.h"
#include "app/page/ingest_page.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "dedup/features/feature_table.h"
#include "pipeline/export/choice.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

using BySplit = pipeline::SelectionCounts::BySplit;

// `flags` must live as long as `verb`.
void add_sheet_flags(Verb whole, Flag selection, SheetOptions& flags) {
  const Verb verb = whole.titled("The sheet");
  const Flag sheet =
      verb.add_option("--sheet", flags.path, "Write a PNG with thumbnails of some samples");
  verb.add_flag(
          "--removed", flags.of.removed,
          "In the sheet of thumbnails: show what --selection removes instead of what it keeps")
      .needs(sheet)
      .needs(selection);
  const Flag groups = verb.add_option("--groups", flags.of.groups,
                                      "In the sheet of thumbnails: a line for each group of this "
                                      "selection, with the kept and the removed images");
  groups.needs(sheet).excludes(selection);
  verb.add_option("--split", flags.of.split, "In the sheet of thumbnails: only this split")
      .one_of({"none", "train", "val", "test"})
      .needs(sheet);
  verb.add_option("--class", flags.of.label, "In the sheet of thumbnails: only this class")
      .needs(sheet);
  verb.add_option("--count", flags.count,
                  "In the sheet of thumbnails: maximum number of thumbnails")
      .check(whole_in(1, 10'000))
      .needs(sheet)
      .show_default();
  verb.add_option("--columns", flags.columns,
                  "In the sheet of thumbnails: number of thumbnails in a row")
      .check(whole_in(1, 200))
      .needs(sheet)
      .show_default();
  verb.add_option("--seed", flags.seed,
                  "In the sheet of thumbnails: choose at random by this seed; default: spread "
                  "evenly over the samples")
      .check(seeds())
      .needs(sheet);
  const Flag augment =
      verb.add_option("--augment", flags.augment,
                      "In the sheet of thumbnails: a line for each sample: the image itself, then "
                      "as augmented by this recipe in the "
                      "first epochs of a run with the same seed; see train --help-all");
  verb.add_option("--image-size", flags.image_size,
                  "For --augment: size of the samples, a side in pixels or HxW (default: the size "
                  "of the images, or 224 if they differ)")
      .needs(augment);
  augment.needs(sheet).excludes(groups);
}

}  // namespace

Command add_info(Verb program) {
  auto o = std::make_shared<InfoRequest>();
  const Verb verb =
      program.add_verb("info", "Show what a cache or a selection holds, in numbers and pictures");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  const Flag selection = verb.add_option(
      "--selection", o->selection,
      "Also count what this selection keeps and removes, by split and class; on a sheet, show only "
      "what it keeps");
  add_issues_flag(
      verb, o->issues,
      "Instead, how many images are dark, blurry, odd and so on; or, of those named, as "
      "blurry,dark, a list of the images with their scores (CSV), the worst first");
  verb.add_option("--report", o->report,
                  "Also write an HTML page, with the inputs that could not be read, and the sheet");
  add_sheet_flags(verb, selection, o->sheet);
  verb.add_flag("--json", o->json, "Print one JSON object on stdout, with the manifest");
  verb.footer(
      R"(On a sheet, pictures larger than 128 pixels are scaled down, and tiny ones up by a whole factor.
Below each are its name, its id and its classes. Unreadable images are crossed out and named. In a
line of --groups, images that stay come first, under a green line; then those that go, under an
orange one, with their distance in bits and their classes.

Examples:
  winnow info cache
  winnow info cache --issues                     # number of dark, blurry, odd images
  winnow info cache --issues blurry > blurry.csv # their names
  winnow info cache --report cache.html
  winnow info cache --report cache.html --sheet look.png    # with pictures
  winnow info cache --selection default
  winnow info cache --sheet look.png --split train --class cat --count 100 --columns 10
  winnow info cache --sheet groups.png --groups default --columns 6
  winnow info cache --sheet gone.png --selection default --removed
  winnow info cache --sheet look.png --augment imagenet --image-size 224
  winnow info cache --sheet look.png --augment crop+flip+rand_augment:magnitude=12
  winnow info cache --sheet look.png --augment resized_crop+mixup+cutmix)");
  return {verb, false, [o](Session& session) { run_info(*o, session); }};
}

}  // namespace winnow::tools
