#include "app/tune/tune_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "app/dedup/gallery.h"
#include "app/dedup/search.h"
#include "app/page/html.h"
#include "app/page/page.h"
#include "app/review/group_list.h"
#include "app/words.h"
#include "dedup/hash/hashes.h"
#include "dedup/lists/pairs.h"
#include "dedup/review/review.h"
#include "dedup/review/sample.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {
namespace {

using dedup::CurvePoint;

constexpr std::uint64_t kPairs = 200;

std::string share_html(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "";
}

std::optional<int> chosen(const Tuned& tuned, const dedup::Demand& demand) {
  const auto choice = dedup::choose(tuned.curve, demand);
  return choice ? std::optional(choice->threshold) : std::nullopt;
}

std::string curves_of(const std::vector<Tuned>& all, const dedup::Demand& demand) {
  LineChart chart = chart_of(all, "");
  chart.title.clear();
  int colour = 0;
  for (const Tuned& tuned : all) {
    if (const auto threshold = chosen(tuned, demand)) {
      chart.marks.push_back(
          {*threshold / (chart.x_percent ? static_cast<double>(tuned.curve.bits) : 1.0),
           tuned.curve.hash + ": " + count_of(static_cast<std::uint64_t>(*threshold), "bit"),
           colour});
    }
    ++colour;
  }
  const std::string most = demand.precision
                               ? fmt::format("a precision of {:.1f} %", 100 * *demand.precision)
                               : fmt::format("fewer than {:g} false pairs expected", demand.risk);
  return figure("Precision and recall; upright: the most bits with " + most, svg_of(chart));
}

// One row per distinct distance, as long as most pairs are expected to be true.
std::string curve_rows(const Tuned& tuned, std::optional<int> threshold) {
  std::string rows;
  std::optional<std::uint64_t> pairs;
  for (const CurvePoint& p : tuned.curve.points) {
    const bool is_chosen = p.threshold == threshold;
    if (pairs == p.pairs && !is_chosen) continue;
    pairs = p.pairs;
    rows += row(
        number_cell(fmt::format("{}", p.threshold)) + number_cell(grouped(p.pairs)) +
            number_cell(fmt::format("{:.1f}", p.false_pairs)) +
            number_cell(share_html(p.precision)) + number_cell(share_html(p.precision_at_least)) +
            number_cell(share_html(tuned.recall(p.threshold))) + number_cell(grouped(p.removable)),
        is_chosen ? RowLook::kMarked : RowLook::kPlain);
    if (p.precision && *p.precision < 0.5) break;  // mostly chance from here on
  }
  return rows;
}

std::string table_of(const Tuned& tuned, const dedup::Demand& demand) {
  const auto threshold = chosen(tuned, demand);
  const std::string how = tuned.curve.by == dedup::FalsePairs::kByClass ? "classes" : "distances";
  std::string content =
      paragraph(aside(fmt::format("{}; false pairs are estimated from {}",
                                  count_of(tuned.curve.images, "image"), how))) +
      table({"#bits", "#pairs", "#false", "#precision", "#at least", "#recall", "#removable"},
            curve_rows(tuned, threshold));
  const std::string judged = judged_table(tuned, demand.precision.value_or(kUsualPrecision));
  if (!judged.empty()) content += preformatted(judged);
  return details(escaped(tuned.curve.hash) +
                     (threshold ? ": " + count_of(static_cast<std::uint64_t>(*threshold), "bit")
                                : ": no threshold"),
                 content, true);
}

// The chosen hash, or the first.
const Tuned& tuned_of(const Measured& measured) {
  const auto tuned = std::ranges::find_if(measured.all, [&](const Tuned& of) {
    return measured.best && of.curve.hash == measured.best->hash;
  });
  return tuned == measured.all.end() ? measured.all.front() : *tuned;
}

// The hash that is shown, its threshold, and the largest distance of drawn pairs.
struct Looked {
  const Tuned* tuned = nullptr;
  int threshold = 0;
  int most = 0;
  bool is_usual = false;  // the usual threshold: none could be recommended
};
Looked look_at(const Measured& measured) {
  const auto& best = measured.best;
  Looked looked{.tuned = &tuned_of(measured), .is_usual = !best};
  const auto last = static_cast<int>(looked.tuned->curve.points.size()) - 1;
  looked.threshold =
      std::min(best ? best->threshold : dedup::usual_threshold(looked.tuned->curve.hash), last);
  looked.most = std::min(looked.threshold + std::max(2, looked.threshold / 4), last);
  return looked;
}

std::string pairs_in_words(const Looked& looked, const dedup::Result& pairs) {
  return fmt::format(
      "{} of {} within {}; the {} threshold is {}. They were drawn so that judging them says most "
      "about its precision: save your judgements, and give them to winnow tune --review.",
      count_of(pairs.groups.size(), "pair"), escaped(looked.tuned->curve.hash),
      count_of(static_cast<std::uint64_t>(looked.most), "bit"),
      looked.is_usual ? "usual" : "recommended", looked.threshold);
}

dedup::Result pairs_of(const dedup::PairSample& sample, const dedup::Fingerprints& table) {
  dedup::Result result;
  result.selection = dedup::keep_all(table.ids);
  show_pairs(sample, table, result);
  return result;
}

}  // namespace

GalleryFrame tune_frame(const Measured& measured, const ChoiceOptions& flags,
                        const std::string& cache) {
  const std::vector<Tuned>& all = measured.all;
  const dedup::Demand demand = demand_of(flags);
  std::string verdict = recommendation_in_words(measured, flags, shell_word(cache));
  std::ranges::replace(verdict, '\n', ' ');
  std::string tiles = tile(grouped(all.front().curve.images), "images");
  if (measured.taken && measured.taken->verified) {
    const dedup::VerifiedLinks& verified = *measured.taken->verified;
    tiles +=
        tile(grouped(verified.verification.counts.verified), "pairs that show one picture") +
        tile(fmt::format("{:.2g}", verified.kept.expected_false), "of them expected to be false") +
        tile(grouped(measured.taken->removed), "removed");
  } else if (const auto& best = measured.best) {
    tiles += tile(escaped(best->hash), "hash") +
             tile(std::to_string(best->threshold), "bits may differ") +
             tile(grouped(best->pairs), "pairs within them") +
             tile(fmt::format("{:.2g}", best->false_pairs), "of them expected to be false");
  }
  std::string tables = curves_of(all, demand);
  if (const std::string pictures = pictures_table(measured); !pictures.empty()) {
    tables += preformatted(pictures);
  }
  for (const Tuned& tuned : all) tables += table_of(tuned, demand);
  const std::string edits = edit_tables(all, demand);
  if (!edits.empty())
    tables += details("Edited pictures that are found", preformatted(edits), false);
  return {.verb = "winnow tune",
          .applying_verb = "winnow tune",
          .about = "thresholds",
          .verdict = escaped(verdict),
          .tiles = tiles,
          .sections = section("Thresholds", tables),
          .counts = false,
          .listed = ""};
}

void write_tune_page(const Session& session, const pipeline::Cache& cache,
                     const dedup::ColumnSource& columns, const Measured& measured,
                     const ChoiceOptions& flags, const std::filesystem::path& path) {
  const Looked looked = look_at(measured);
  const dedup::Options options{.hash = looked.tuned->curve.hash,
                               .threshold = looked.most,
                               .matching = {.least_quality = looked.tuned->curve.least_quality}};
  const dedup::Fingerprints table = columns({"labels", "widths_px", "heights_px", "file_hashes"});
  dedup::PairSample sample;
  with_search(session, /*all_links=*/true, [&](const dedup::LinkSource& links) {
    sample = dedup::draw_pairs(
        table, [&](const auto& take) { dedup::for_each_pair(columns, options, links, take); },
        {.hash = options.hash,
         .threshold = options.threshold,
         .count = kPairs,
         .least_quality = options.matching.least_quality});
  });
  const dedup::Result result = pairs_of(sample, table);
  GalleryFrame frame = tune_frame(measured, flags, cache.paths().root.string());
  frame.sections += section("Pairs to look at", paragraph(pairs_in_words(looked, result)));
  const pipeline::LedgerNames names = cache.read_names();
  write_gallery(session,
                {.result = result,
                 .table = table,
                 .threshold = looked.threshold,
                 .classes = cache.manifest().classes,
                 .name_of = std::cref(names)},
                {.title = title_of(cache.manifest()),
                 .made = made_here(),
                 .picture_of = pipeline::pictures_of(cache),
                 .no_pictures = kNoPicturesInCache,
                 .frame = std::move(frame),
                 .fates = {{"kept", ""}},
                 .first_line = dedup::review_line(sample)},
                path);
}

}  // namespace winnow::app
