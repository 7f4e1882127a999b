#include "train/run/evaluations/out_of_fold.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "common/npy.h"
#include "common/utf8.h"
#include "train/model/class_names.h"

namespace winnow::train {
namespace {

namespace fs = std::filesystem;

constexpr int kOutOfFoldVersion = 1;
constexpr std::uint32_t kMostOutOfFolds = 100;
constexpr const char* kCsvHeader = "id,name,label,prediction,fold\n";
constexpr const char* kTrainAgain = "train again: winnow train CACHE --folds K --out RUN";

fs::path json_path(const fs::path& run) { return run / "out-of-fold.json"; }
fs::path csv_path(const fs::path& run) { return run / "out-of-fold.csv"; }
fs::path npy_path(const fs::path& run) { return run / "out-of-fold.npy"; }

std::string write_npy(const fs::path& path, const OutOfFold& predicted) {
  DurableFile file(path);
  Xxh3Stream digest;
  const auto put = [&](BytesView bytes) {
    digest.update(bytes);
    file.append(bytes);
  };
  put(as_bytes(npy_header(predicted.ids.size(), predicted.classes.size())));
  put(as_bytes(predicted.probabilities));
  file.finish();
  return to_hex(digest.digest());
}

std::string write_csv(const fs::path& path, const OutOfFold& predicted, const SampleWords& words) {
  DurableFile file(path);
  Xxh3Stream digest;
  const auto put = [&](const std::string& line) {
    digest.update(as_bytes(line));
    file.append(as_bytes(line));
  };
  put(kCsvHeader);
  for (std::size_t i = 0; i < predicted.ids.size(); ++i) {
    const auto guess = static_cast<std::size_t>(predicted.prediction(i));
    put(std::to_string(predicted.ids[i]) + ',' + csv_field(words.name(predicted.ids[i])) + ',' +
        csv_field(words.label(i)) + ',' + csv_field(from_utf8(predicted.classes[guess])) + ',' +
        std::to_string(predicted.fold[i] + 1) + '\n');
  }
  file.finish();
  return to_hex(digest.digest());
}

template <class Number>
Number parse_number(const std::string& text, const std::string& where) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw FormatError(where + " is damaged: '" + text + "' is not a number; " + kTrainAgain);
  }
  return number;
}

// Parses the rows of the CSV, without trusting its content.
void parse_csv(const InputFile& file, OutOfFold& predicted) {
  const fs::path& path = file.path();
  bool is_header = true;
  CsvReader reader(',', path.string(), [&](std::span<const std::string> fields, std::uint64_t) {
    if (std::exchange(is_header, false)) return;
    const std::string where = path.string();
    if (fields.size() != 5) {
      throw FormatError(where + " is damaged: a line does not have five fields; " + kTrainAgain);
    }
    const auto id = parse_number<SampleId>(fields[0], where);
    const auto fold = parse_number<std::uint32_t>(fields[4], where);
    if ((!predicted.ids.empty() && predicted.ids.back() >= id) || fold == 0 ||
        fold > predicted.about.folds) {
      throw FormatError(where + " is damaged: its ids do not ascend, or a fold does not exist; " +
                        kTrainAgain);
    }
    predicted.ids.push_back(id);
    predicted.fold.push_back(fold - 1);
  });
  try {
    for_each_piece(file, 0, file.size(), [&](BytesView bytes) { reader.feed(as_text(bytes)); });
    reader.finish();
  } catch (const UsageError&) {  // a UsageError in files written by users
    throw FormatError(path.string() + " is damaged: a quote is not closed, or a line has no end; " +
                      kTrainAgain);
  }
}

// Why the numbers of a row cannot be a prediction; empty if they can.
std::string why_no_prediction(std::span<const float> row, bool sigmoid) {
  constexpr double kMostOff = 1e-4;  // rounding error, also of other programs
  if (!std::ranges::all_of(row, [](float p) { return p >= 0 && p <= 1; })) {  // false for NaN
    return "has a number that is not a probability";
  }
  const double sum = std::accumulate(row.begin(), row.end(), 0.0);
  return sigmoid || std::abs(sum - 1) <= kMostOff ? "" : "does not add up to 1";
}

void read_npy(const fs::path& path, OutOfFold& predicted) {
  const NpyMatrix matrix(path, kTrainAgain);
  const std::size_t columns = predicted.classes.size();
  if (matrix.rows() != predicted.ids.size() || matrix.columns() != columns) {
    throw FormatError(path.string() + " is not a matrix of " +
                      std::to_string(predicted.ids.size()) + " by " + std::to_string(columns) +
                      "; " + kTrainAgain);
  }
  predicted.probabilities.resize(predicted.ids.size() * columns);
  for (std::size_t i = 0; i < predicted.ids.size(); ++i) {
    matrix.read(i, std::span(predicted.probabilities).subspan(i * columns, columns));
    const std::string why = why_no_prediction(predicted.row(i), predicted.about.sigmoid);
    if (why.empty()) continue;
    throw FormatError(path.string() + ": row " + std::to_string(i) + ", of image " +
                      std::to_string(predicted.ids[i]) + ", " + why + "; " + kTrainAgain);
  }
}

// Opens a file and checks that it is unchanged.
InputFile open_written(const fs::path& path, const JsonReader& digest) {
  if (!fs::exists(path)) throw FormatError(path.string() + " is missing; " + kTrainAgain);
  InputFile file(path);
  if (to_hex(xxh3_128(file)) == digest.text()) return file;
  throw FormatError(path.string() + " was changed after it was written; " + kTrainAgain);
}

}  // namespace

std::int32_t OutOfFold::prediction(std::size_t sample) const {
  const auto p = row(sample);
  return static_cast<std::int32_t>(std::ranges::max_element(p) - p.begin());
}

void order_classes(OutOfFold& predicted, const std::vector<std::string>& classes) {
  if (predicted.classes == classes) return;
  const std::vector<std::int32_t> from = places_in(classes, predicted.classes);
  std::vector<float> before;
  for (std::size_t i = 0; i < predicted.ids.size(); ++i) {
    const auto row = std::span(predicted.probabilities).subspan(i * from.size(), from.size());
    before.assign(row.begin(), row.end());
    for (std::size_t k = 0; k < from.size(); ++k) {
      row[k] = before[static_cast<std::size_t>(from[k])];
    }
  }
  predicted.classes = classes;
}

std::vector<float> probabilities_of(std::span<const float> logits, std::size_t classes,
                                    bool sigmoid) {
  std::vector<float> probabilities(logits.size());
  for (std::size_t begin = 0; begin < logits.size(); begin += classes) {
    const auto row = logits.subspan(begin, classes);
    const double most = sigmoid ? 0 : double{*std::ranges::max_element(row)};
    double sum = 0;
    for (const float logit : row) sum += std::exp(double{logit} - most);
    for (std::size_t j = 0; j < classes; ++j) {
      const double logit{row[j]};
      probabilities[begin + j] =
          static_cast<float>(sigmoid ? 1 / (1 + std::exp(-logit)) : std::exp(logit - most) / sum);
    }
  }
  return probabilities;
}

void write_out_of_fold(const fs::path& run, const OutOfFold& predicted, const SampleWords& words) {
  remove_file(json_path(run));
  const std::string npy = write_npy(npy_path(run), predicted);
  const std::string csv = write_csv(csv_path(run), predicted, words);
  Json json{{"version", kOutOfFoldVersion},
            {"cache_digest", predicted.about.cache_digest},
            {"selection", predicted.about.selection},
            {"folds", predicted.about.folds},
            {"samples", predicted.ids.size()},
            {"classes", predicted.classes},
            {"npy_xxh3_128", npy},
            {"csv_xxh3_128", csv}};
  if (predicted.about.sigmoid) json["sigmoid"] = true;
  if (!predicted.about.digest_by_names.empty()) {
    json["digest_by_names"] = predicted.about.digest_by_names;
  }
  write_file_durably(json_path(run), json.dump() + "\n");
}

OutOfFold read_out_of_fold(const fs::path& run) {
  if (!fs::exists(json_path(run))) {
    throw UsageError(run.string() +
                     " has no out-of-fold probabilities; make them with winnow train CACHE --folds "
                     "4 --out RUN (if that was stopped, add --resume auto)");
  }
  const JsonReader in(read_text(json_path(run)), {json_path(run).string(), kTrainAgain});
  if (in.at("version").number<int>() > kOutOfFoldVersion) {
    in.fail("was written by a newer winnow; use that one");
  }
  // Assigned one by one, because GCC 12 frees members of an aggregate twice if one of them throws.
  OutOfFold predicted;
  predicted.about.cache_digest = in.at("cache_digest").text();
  predicted.about.selection = in.at("selection").text();
  predicted.about.folds = in.at("folds").number(kMostOutOfFolds);
  predicted.classes = in.at("classes").texts();
  if (const auto sigmoid = in.find("sigmoid")) predicted.about.sigmoid = sigmoid->boolean();
  if (const auto digest = in.find("digest_by_names")) {
    predicted.about.digest_by_names = digest->text();
  }
  if (predicted.classes.empty()) in.at("classes").fail("is empty");
  parse_csv(open_written(csv_path(run), in.at("csv_xxh3_128")), predicted);
  if (predicted.ids.size() != in.at("samples").number()) {
    in.at("samples").fail("are not those of " + csv_path(run).string());
  }
  open_written(npy_path(run), in.at("npy_xxh3_128"));
  read_npy(npy_path(run), predicted);
  return predicted;
}

}  // namespace winnow::train
