#include "app/index/query.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/dedup/compared.h"
#include "app/dedup/gallery.h"
#include "app/dedup/search.h"
#include "app/index/features.h"
#include "app/index/pictures.h"
#include "app/index/query_page.h"
#include "app/sources/in_place.h"
#include "app/words.h"
#include "common/csv.h"
#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/features/feature_links.h"
#include "dedup/hash/hashes.h"
#include "dedup/index/index_features.h"
#include "dedup/index/picture_matches.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/features.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
// The largest distance of duplicates. Features: from their options. Codes: as the flag says, or the
// largest that chance allows among the index's images.
int threshold_of(const IndexQueryRequest& o, const dedup::StoredIndex& index,
                 const Session& session) {
  if (o.features.any()) return dedup::distance_of_cosine(*o.features.cosine);
  if (o.choice.threshold) {
    dedup::check_threshold(index.kind().hash, *o.choice.threshold);
    say_if_small(session, index.kind().hash, *o.choice.threshold);
    return *o.choice.threshold;
  }
  const dedup::Demand demand = demand_of(o.choice);
  const auto choice = dedup::choose_by_chance(index.columns(), index.kind().hash, demand);
  if (!choice) {
    throw RefusedError(
        fmt::format("no threshold for {} meets the demanded --risk, not even 0 bits; give a larger "
                    "--risk, or a --threshold",
                    index.kind().hash));
  }
  say(session, in_words(*choice, demand));
  return choice->threshold;
}

// Finds a cache's images in the index: by codes the nearest image of each, by pictures all matches.
class Finder {
 public:
  Finder(const IndexQueryRequest& o, const dedup::StoredIndex& index, int threshold,
         const pipeline::PictureOf& pictures, const Session& session)
      : index_(index),
        choice_(o.choice),
        reading_(o.inputs.reading),
        features_(o.features),
        threshold_(threshold),
        session_(session) {
    if (o.features.any()) known_ = features_of_index(index, o.features.name, o.sources);
    if (o.features.any()) return;
    if (!looks(o)) return;
    thumbnails_of(index);
    const dedup::VerifyOptions asked = verify_options(o.choice);
    pictures_.emplace(
        index, dedup::PictureMatchOptions{.threshold = threshold,
                                          .least_quality = o.choice.least_quality,
                                          .demand = {asked.least_probability, asked.most_false},
                                          .closer = closer_pictures(pictures, index.columns()),
                                          .search = search_options(session)});
    tell(session, pictures_->landmarks());
  }

  // Whether pictures are compared.
  bool compares_pictures() const { return pictures_.has_value(); }

  std::vector<dedup::PictureMatch> find(const pipeline::Cache& cache, const fs::path& input) {
    const dedup::ColumnSource columns = cache.open_fingerprints();
    if (features_.any()) return find_by_features(cache, columns);
    if (!pictures_) {
      std::vector<dedup::PictureMatch> nearest;
      for (const auto& [row, id, distance] : index_.find_matches(
               columns, threshold_, search_options(session_), choice_.least_quality)) {
        nearest.push_back({row, id, distance, std::nullopt});
      }
      return nearest;
    }
    dedup::PictureMatches found =
        pictures_->find(columns, thumbnails_of(cache, input),
                        closer_pictures(open_pictures(input, reading_, session_), columns));
    least_probability_ =
        std::min(found.kept.least.near, least_probability_.value_or(found.kept.least.near));
    tell_verified(session_,
                  {.counts = found.counts,
                   .refused = found.refused,
                   .undecided = found.undecided,
                   .kept = found.kept,
                   .non_duplicates = pictures_->calibration().non_duplicates,
                   .looked_closer = found.looked_closer,
                   .look_alikes = found.look_alikes,
                   .is_answer = true},
                  index_.kind().hash);
    return std::move(found.matches);
  }

  // The probability that each pair found by pictures so far has at least; nullopt: none was found
  // so.
  std::optional<double> least_probability() const { return least_probability_; }

 private:
  bool looks(const IndexQueryRequest& o) const {
    if (choice_.verify) return *choice_.verify;
    return verifies_unasked(session_, choice_, index_.columns(),
                            images_of(index_, {}, o.sources, session_));
  }

  std::vector<dedup::PictureMatch> find_by_features(const pipeline::Cache& cache,
                                                    const dedup::ColumnSource& columns) const {
    const dedup::FeatureTable asked = pipeline::read_features(cache, features_.name);
    const dedup::SearchOptions search = search_options(session_);
    std::vector<dedup::PictureMatch> nearest;
    for (const auto& [row, id, cosine] : dedup::find_by_features(
             index_, columns, {known_, asked, *features_.cosine, choice_.least_quality},
             {.progress = search.progress, .stop = search.stop})) {
      const long distance = std::lround(1000 * (1 - double{cosine}));
      nearest.push_back({row, id, static_cast<std::uint32_t>(distance), std::nullopt});
    }
    return nearest;
  }

  const dedup::StoredIndex& index_;
  const ChoiceOptions& choice_;
  const ReadingOptions& reading_;
  const FeatureOptions& features_;
  dedup::FeatureTable known_;
  int threshold_;
  const Session& session_;
  std::optional<dedup::PictureMatcher> pictures_;
  std::optional<double> least_probability_;
};

// Prints matches as CSV, or collects them as JSON.
class Answer {
 public:
  Answer(const IndexQueryRequest& o, const dedup::StoredIndex& index, bool has_probabilities,
         const Session& session)
      : session_(session),
        o_(o),
        index_(index),
        has_probabilities_(has_probabilities),
        name_in_index_(index.name_of()) {}

  void put(const fs::path& input, const pipeline::Cache& cache,
           std::span<const dedup::PictureMatch> matches) {
    const dedup::Fingerprints table = cache.open_fingerprints()({});
    const pipeline::LedgerNames names = cache.read_names();
    asked_ += table.size();
    for (std::size_t i = 0; i < matches.size(); ++i) {
      known_ += i == 0 || matches[i].row != matches[i - 1].row ? 1 : 0;
    }
    if (!o_.json) print_header();
    for (const dedup::PictureMatch& match : matches) {
      const SampleId id = table.ids[match.row];
      const Line line{input.string(),
                      id,
                      names(id),
                      split_name(table.splits[match.row]),
                      name_in_index_(match.id),
                      index_.sources()[source_of(match.id)].name};
      o_.json ? gather(line, match) : print_match(line, match);
    }
  }
  std::uint64_t asked() const { return asked_; }
  std::uint64_t known() const { return known_; }

  Json json(int threshold, std::optional<double> verified) && {
    Json out{{"schema", "winnow.index_query/1"},
             {"hash", o_.features.any() ? std::string(dedup::kCosine) : index_.kind().hash},
             {"threshold", threshold},
             {"images", asked_},
             {"known", known_}};
    if (verified) out["verified"] = *verified;
    if (o_.features.any()) out["features"] = o_.features.name;
    out["matches"] = std::move(matches_);
    return out;
  }

 private:
  struct Line {
    std::string input;
    SampleId id;
    std::string name;
    std::string_view split;
    std::string match_name;
    std::string match_source;
  };
  // Delayed, so that nothing is printed if an input does not exist.
  void print_header() {
    if (std::exchange(has_header_, true)) return;
    app::print(session_,
               fmt::format("input,id,name,split,match_id,match_name,match_source,distance{}\n",
                           has_probabilities_ ? ",probability" : ""));
  }
  void print_match(const Line& line, const dedup::PictureMatch& match) const {
    std::string row = fmt::format(
        "{},{},{},{},{},{},{},{}", csv_field(line.input), line.id, csv_field(line.name), line.split,
        match.id, csv_field(line.match_name), csv_field(line.match_source), match.distance);
    if (has_probabilities_) {
      row += "," + (match.probability ? fmt::format("{:.4f}", *match.probability) : "");
    }
    app::print(session_, row + "\n");
  }
  void gather(const Line& line, const dedup::PictureMatch& match) {
    Json& json = matches_.push_back(Json{{"input", to_utf8(line.input)},
                                         {"id", line.id},
                                         {"name", to_utf8(line.name)},
                                         {"split", line.split},
                                         {"match_id", match.id},
                                         {"match_name", to_utf8(line.match_name)},
                                         {"match_source", to_utf8(line.match_source)},
                                         {"distance", match.distance}});
    if (match.probability) json["probability"] = std::round(*match.probability * 1e4) / 1e4;
  }

  const Session& session_;
  const IndexQueryRequest& o_;
  const dedup::StoredIndex& index_;
  bool has_probabilities_;
  std::function<std::string(SampleId)> name_in_index_;
  bool has_header_ = false;
  Json matches_ = Json::array();
  std::uint64_t asked_ = 0;
  std::uint64_t known_ = 0;
};

// The first match of each image, which is its best.
std::vector<dedup::Match> best_of(std::span<const dedup::PictureMatch> matches) {
  std::vector<dedup::Match> best;
  for (const dedup::PictureMatch& match : matches) {
    if (!best.empty() && best.back().row == match.row) continue;
    best.push_back({match.row, match.id, match.distance});
  }
  return best;
}

void check(const IndexQueryRequest& o) {
  check_choice(o.choice);
  check_features(o.features, o.choice);
  if (o.features.any() && o.choice.verify.value_or(false)) {
    throw UsageError(
        "--features compares features and --verify compares pictures; leave out one of the two "
        "flags");
  }
  check_report_path(o.report);
  for (const fs::path& input : o.inputs.paths) {
    if (!is_data_set(input)) {
      pipeline::Cache::open(input);
    } else if (o.features.any()) {
      throw UsageError(
          "--features needs a cache, but " + input.string() +
          " is a data set; ingest it first, then compute its features with winnow embed");
    }
  }
}

std::string how_in_words(const IndexQueryRequest& o, int threshold, bool compares_pictures) {
  if (o.features.any()) {
    return fmt::format("by features '{}' from a cosine of {}", o.features.name, *o.features.cosine);
  }
  return compares_pictures ? "by the pictures themselves"
                           : "within " + count_of(static_cast<std::uint64_t>(threshold), "bit");
}

}  // namespace

void index_query(const IndexQueryRequest& o, const Session& session) {
  check(o);
  const auto index = dedup::StoredIndex::open(o.index);
  if (!o.features.any()) index.check_quality(o.choice.least_quality);
  const pipeline::PictureOf pictures = pictures_of_index(
      index, o.features.any() ? with_pictures(o.sources) : o.sources, o.inputs.reading, session);
  const int threshold = threshold_of(o, index, session);
  Finder finder(o, index, threshold, pictures, session);
  const bool compares_pictures = finder.compares_pictures();
  Answer answer(o, index, compares_pictures, session);
  QueryPage page(index, threshold, how_in_words(o, threshold, compares_pictures));
  for (const fs::path& input : o.inputs.paths) {
    with_cache(
        input, o.inputs.reading, index.kind().hash, session, [&](const pipeline::Cache& cache) {
          stop_if_asked(session);
          const std::vector<dedup::PictureMatch> matches = finder.find(cache, input);
          answer.put(input, cache, matches);
          if (o.report.empty()) return;
          page.add(input, cache, best_of(matches), open_pictures(input, o.inputs.reading, session));
        });
  }
  if (!o.report.empty()) page.write(session, pictures, o.report);
  const std::uint64_t known = answer.known();
  say(session, fmt::format("{} of {} {} a duplicate in the index", grouped(known),
                           count_of(answer.asked(), "image"),
                           known == 1 || answer.asked() == 1 ? "has" : "have"));
  if (o.json)
    print(
        session,
        fmt::format("{}\n", std::move(answer).json(threshold, finder.least_probability()).dump()));
  if (o.fail_on_match && known > 0) {
    throw RefusedError("some of the images are in the index already and --fail-on-match is set");
  }
}

}  // namespace winnow::app
