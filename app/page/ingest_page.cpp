#include "app/page/ingest_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>

#include "app/page/html.h"
#include "app/page/page.h"
#include "app/page/svg.h"
#include "app/words.h"

namespace winnow::app {
namespace {

using pipeline::Fate;
using pipeline::Histogram;
using pipeline::Manifest;
using pipeline::SourceInfo;
using pipeline::Stage;
using pipeline::Statistics;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string title_of(const IngestPage& page) {
  std::string names;
  for (const SourceInfo& source : page.manifest.sources) {
    names += (names.empty() ? "" : ", ") + source.name;
  }
  return names;
}

std::uint64_t shard_bytes(const Manifest& m) {
  std::uint64_t bytes = 0;
  for (const pipeline::ShardInfo& shard : m.shards) bytes += shard.bytes;
  return bytes;
}

// Inputs per second.
std::string rate_of(const IngestPage::Run& run) {
  const double rate = static_cast<double>(run.inputs_done) / std::max(run.seconds, 1e-9);
  return grouped(static_cast<std::uint64_t>(rate + 0.5));
}

// 0 for a fate that is newer than the manifest.
std::uint64_t inputs_of(const Manifest& m, Fate fate) {
  const auto found = m.inputs.by_fate.find(std::string(fate_name(fate)));
  return found == m.inputs.by_fate.end() ? 0 : found->second;
}

std::string opening(const IngestPage& page) {
  const Manifest& m = page.manifest;
  const std::uint64_t ok = m.inputs.by_fate.at("ok");
  const std::uint64_t left_out = inputs_of(m, Fate::kDuplicate);
  const std::uint64_t bad = m.inputs.total - ok - left_out;
  std::string verdict =
      bad == 0 ? "Every input could be read."
               : fmt::format(
                     "{} of {} could not be read ({}); each is listed with its reason in "
                     "the ledger.",
                     count_of(bad, "input"), grouped(m.inputs.total),
                     percent(share(bad, m.inputs.total)));
  if (page.remarks.warned > 0) {
    verdict +=
        fmt::format(" The decoder warned of {} that it could read.", grouped(page.remarks.warned));
  }
  std::string tiles = tile(grouped(ok), "images") + tile(grouped(bad), "not readable");
  if (left_out > 0) tiles += tile(grouped(left_out), "left out as duplicates");
  if (!m.classes.empty())
    tiles += tile(grouped(m.classes.size()), m.classes.size() == 1 ? "class" : "classes");
  if (m.store != "none")
    tiles += tile(in_bytes(shard_bytes(m)), "in " + count_of(m.shards.size(), "shard"));
  if (page.run && page.run->inputs_done > 0) {
    tiles +=
        tile(in_seconds(page.run->seconds), "time") + tile(rate_of(*page.run), "inputs a second");
  }
  return page_header("winnow ingest", name_html(title_of(page)), verdict, tiles);
}

// One part of a bar, in the colour of this split.
std::vector<std::uint64_t> of_split(std::uint64_t count, std::size_t split) {
  std::vector<std::uint64_t> parts(split + 1);
  parts.back() = count;
  return parts;
}

std::string sources(const IngestPage& page) {
  const Manifest& m = page.manifest;
  std::string rows;
  for (std::size_t i = 0; i < m.sources.size(); ++i) {
    const SourceInfo& source = m.sources[i];
    const bool described = page.run && i < page.run->descriptions.size();
    const std::string what = described ? page.run->descriptions[i] : source.format;
    rows +=
        row(cell(name_html(source.name)) + cell(name_html(what)) +
            number_cell(grouped(source.inputs)) + number_cell(grouped(source.class_names.size())));
  }
  std::string out = table({"source", "understood as", "#inputs", "#classes"}, rows);
  rows.clear();
  const std::uint64_t ok = m.inputs.by_fate.at("ok");
  for (std::size_t i = 0; i < m.images.split_counts.size(); ++i) {
    const std::uint64_t images = m.images.split_counts[i];
    if (images == 0) continue;
    const std::string_view name = split_name(static_cast<Split>(i));
    rows += row(
        cell(name == "none" ? "no split" : name) + number_cell(grouped(images)) +
        number_cell(percent(share(images, ok))) +
        number_cell(m.images.statistics ? grouped(m.images.statistics->splits[i].unlabelled) : "") +
        bar_cell(of_split(images, i), ok));
  }
  out += table({"split", "#images", "#share", "#unlabelled", ""}, rows);
  if (!page.run || page.run->skipped.empty()) return section("What was read", out);
  rows.clear();
  for (const datasets::Skipped& skipped : page.run->skipped) {
    rows += row(number_cell(grouped(skipped.count)) + cell(name_html(skipped.reason)));
  }
  return section("What was read", out + table({"#skipped", "why"}, rows));
}

std::string_view meaning_of(Fate fate) {
  switch (fate) {
    case Fate::kOk:
      return "decoded, fingerprinted and stored";
    case Fate::kTruncated:
      return "the file ends early: copy or download it again";
    case Fate::kCorrupt:
      return "the decoder refused the content";
    case Fate::kUnsupported:
      return "a format that cannot be read here";
    case Fate::kTooLarge:
      return "more pixels than --max-pixels, or more bytes than a record holds";
    case Fate::kEmpty:
      return "a file without a byte";
    case Fate::kMissing:
      return "listed, but not there";
    case Fate::kDuplicate:
      return "could be read, and was left out on purpose: another image stands for it";
    case Fate::kUnreadable:
      break;
  }
  return "the file system would not give it: ingest anew when it does";
}

std::string words_of(Fate fate) {
  std::string name(fate_name(fate));
  std::ranges::replace(name, '_', ' ');
  return name;
}

// Names and reasons of the first inputs of a fate.
std::string examples(const std::vector<pipeline::LedgerRow>& rows, std::uint64_t count,
                     const std::string& title) {
  if (rows.empty()) return "";
  std::string list;
  for (const pipeline::LedgerRow& input : rows) {
    list += row(cell(name_html(input.name)) + cell(name_html(input.reason)));
  }
  const std::string rest =
      count > rows.size()
          ? fmt::format("; the first {} are shown, all are in <code>ledger.jsonl</code>",
                        rows.size())
          : "";
  return details(title + ": " + count_of(count, "input") + rest, table({"name", "reason"}, list),
                 rows.size() <= 5);
}

std::string fates(const IngestPage& page) {
  const Manifest& m = page.manifest;
  std::string rows;
  std::string more;
  for (int i = 0; i < pipeline::kFateCount; ++i) {
    const auto fate = static_cast<Fate>(i);
    const std::uint64_t count = inputs_of(m, fate);
    if (fate == Fate::kDuplicate && count == 0) continue;
    rows += row(key_cell(words_of(fate)) + number_cell(grouped(count)) +
                    number_cell(count > 0 ? percent(share(count, m.inputs.total)) : "") +
                    (count > 0 ? bar_cell(of_split(count, 1), m.inputs.total) : cell("")) +
                    cell(meaning_of(fate)),
                count == 0 ? RowLook::kFaint : RowLook::kPlain);
    if (fate != Fate::kOk) more += examples(page.examples.of(fate), count, words_of(fate));
  }
  rows += row(
      cell("all") + number_cell(grouped(m.inputs.total)) + number_cell("") + cell("") + cell(""),
      RowLook::kSum);
  if (!page.remarks.unsupported.empty()) {
    std::string reasons;
    for (const auto& [reason, count] : page.remarks.unsupported) {
      reasons += row(number_cell(grouped(count)) + cell(name_html(reason)));
    }
    more += heading("What to do about formats that cannot be read") +
            table({"#inputs", "reason"}, reasons);
  }
  more += examples(page.examples.of(Fate::kOk), page.remarks.warned,
                   "ok, but with a decoder's warning");
  for (const std::string& note : page.run ? page.run->notes : std::vector<std::string>{}) {
    if (!note.empty()) more += "<p>" + name_html(note) + "</p>\n";
  }
  return section("What happened to the inputs",
                 table({"class", "#inputs", "#share", "", "which means"}, rows) + more);
}

// A histogram. If there are few columns, empty ones are added, so that it looks like one.
std::string histogram(const std::string& title, const Histogram& histogram,
                      std::string (*range)(int), const std::string& unit,
                      std::string (*tick)(int)) {
  constexpr int kFewest = 7;
  const int bins = static_cast<int>(histogram.counts.size());
  const int pad = std::max(0, (kFewest - bins + 1) / 2);
  std::vector<Column> columns;
  for (int bucket = histogram.first - pad; bucket < histogram.end() + pad; ++bucket) {
    if (bucket < 0) continue;
    const bool inside = bucket >= histogram.first && bucket < histogram.end();
    const std::uint64_t count =
        inside ? histogram.counts[static_cast<std::size_t>(bucket - histogram.first)] : 0;
    columns.push_back(
        {.tick = tick(bucket),
         .title = fmt::format("{}{}: {}", range(bucket), unit, count_of(count, "image")),
         .count = count});
  }
  return figure(title, columns_svg(title, columns));
}

std::string before_dash(const std::string& range) { return range.substr(0, range.find('-')); }
std::string side_tick(int bucket) { return before_dash(short_side_range(bucket)); }
std::string pixels_tick(int bucket) { return before_dash(pixels_range(bucket)); }
std::string bytes_tick(int bucket) {
  const std::string range = file_bytes_range(bucket);
  return before_dash(range) + range.substr(range.find(' '));
}
std::string aspect_tick(int bucket) {
  switch (bucket - pipeline::kSquare) {
    case -8:
      return "1:4";
    case -4:
      return "1:2";
    case -2:
      return "3:4";
    case 0:
      return "1:1";
    case 2:
      return "4:3";
    case 4:
      return "2:1";
    case 8:
      return "4:1";
    default:
      return "";
  }
}

std::string channels_table(const Manifest& m) {
  const std::array<double, 3> mean = m.images.mean();
  const std::array<double, 3> deviation = m.images.deviation();
  constexpr std::array<std::string_view, 3> kNames{"red", "green", "blue"};
  std::string rows;
  for (std::size_t c = 0; c < (m.images.channels == 1 ? 1 : kNames.size()); ++c) {
    rows += row(cell(m.images.channels == 1 ? "gray" : kNames[c]) +
                number_cell(fmt::format("{:.4f}", mean[c])) +
                number_cell(fmt::format("{:.4f}", deviation[c])) +
                number_cell(fmt::format("{:.2f}", 255 * mean[c])) +
                number_cell(fmt::format("{:.2f}", 255 * deviation[c])));
  }
  const bool train = m.images.split_counts[static_cast<std::size_t>(Split::kTrain)] > 0;
  return heading(fmt::format("Mean and deviation of the {} images", train ? "training" : "")) +
         table({"channel", "#mean", "#deviation", "#mean of 255", "#deviation of 255"}, rows);
}

std::string images(const IngestPage& page) {
  const Manifest& m = page.manifest;
  if (!m.images.statistics || m.inputs.by_fate.at("ok") == 0) return "";
  const Statistics& s = *m.images.statistics;
  const std::uint64_t ok = m.inputs.by_fate.at("ok");
  std::string facts =
      m.images.width_px > 0
          ? fmt::format("All are {} × {} pixels. ", m.images.width_px, m.images.height_px)
          : fmt::format("The smallest has {} × {} pixels, the largest {} × {}. ",
                        s.smallest.width_px, s.smallest.height_px, s.largest.width_px,
                        s.largest.height_px);
  facts +=
      fmt::format("On average an image has {} megapixels and its input {}; {} of pixels in all.",
                  in_megapixels(s.total_pixels / ok), in_bytes(s.total_file_bytes / ok),
                  in_bytes(s.total_pixels * static_cast<std::uint64_t>(m.images.channels)));
  const std::string charts =
      histogram("Shorter side, pixels", s.short_side, short_side_range, " px", side_tick) +
      histogram("Megapixels", s.pixels, pixels_range, " megapixels", pixels_tick) +
      histogram("Width : height", s.aspect, aspect_range, " to 1", aspect_tick) +
      histogram("Size of the input", s.file_bytes, file_bytes_range, "", bytes_tick);
  return section("The images", paragraph(facts) + figures(charts) + channels_table(m));
}

std::string samples(const IngestPage& page) {
  if (page.sheet.empty()) return "";
  return section("Some of the images", picture("Some of the images", page.sheet));
}

std::string class_rows(const Manifest& m, const std::vector<std::uint64_t>& sums,
                       const std::vector<std::size_t>& labels, std::uint64_t most) {
  std::string rows;
  for (const std::size_t label : labels) {
    std::string cells = cell(name_html(m.classes[label]));
    std::vector<std::uint64_t> parts;
    for (std::size_t i = 0; i < m.images.split_counts.size(); ++i) {
      parts.push_back(m.images.statistics->splits[i].classes[label]);
      if (m.images.split_counts[i] > 0) cells += number_cell(grouped(parts.back()));
    }
    rows += row(cells + number_cell(grouped(sums[label])) + bar_cell(parts, most));
  }
  return rows;
}

std::string classes(const IngestPage& page) {
  constexpr std::size_t kMostRows = 60;
  constexpr std::size_t kEnds = 15;  // entries shown of each end of a longer list
  const Manifest& m = page.manifest;
  if (!m.images.statistics || m.classes.empty()) return "";
  const std::vector<std::uint64_t> sums = images_by_class(*m.images.statistics);
  const Balance balance = balance_of(sums);
  const std::string facts =
      fmt::format("{} {}: {}.", grouped(m.classes.size()),
                  m.classes.size() == 1 ? "class" : "classes", in_words(balance));
  std::vector<std::string> columns{"class"};
  std::string key;
  for (std::size_t i = 0; i < m.images.split_counts.size(); ++i) {
    if (m.images.split_counts[i] == 0) continue;
    const std::string name(split_name(static_cast<Split>(i)));
    columns.push_back("#" + (name == "none" ? "no split" : name));
    key += colour_key(i, name == "none" ? "no split" : name);
  }
  if (std::ranges::count(m.images.split_counts, 0U) == kSplitCount - 1) key.clear();  // one colour
  columns.insert(columns.end(), {"#all", ""});
  std::vector<std::size_t> labels(m.classes.size());
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i;
  if (labels.size() <= kMostRows) {
    return section("Classes", paragraph(facts + " " + key) +
                                  table(columns, class_rows(m, sums, labels, balance.most)));
  }
  std::ranges::stable_sort(labels, std::greater<>(), [&](std::size_t i) { return sums[i]; });
  const std::vector<std::size_t> first(labels.begin(), labels.begin() + kEnds);
  const std::vector<std::size_t> last(labels.end() - kEnds, labels.end());
  return section("Classes",
                 paragraph(facts + " " + key) +
                     figures(figure("Images of each class, falling",
                                    falling_svg("Images of each class, falling", sums))) +
                     heading(fmt::format("The {} largest", kEnds)) +
                     table(columns, class_rows(m, sums, first, balance.most)) +
                     heading(fmt::format("The {} smallest", kEnds)) +
                     table(columns, class_rows(m, sums, last, balance.most)));
}

std::string times(const IngestPage& page) {
  if (!page.run) return "";
  const IngestPage::Run& run = *page.run;
  std::string out;
  if (run.inputs_done < page.manifest.inputs.total) {
    out += paragraph(
        fmt::format("This run did {} of the {} inputs; those before it had done the others.",
                    grouped(run.inputs_done), grouped(page.manifest.inputs.total)));
  }
  if (run.times) {
    std::string sentence = bottleneck(*run.times);
    sentence.front() =
        static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
    out += paragraph(escaped(sentence) + ".");
    std::string rows;
    for (std::size_t i = 0; i < pipeline::kStageCount; ++i) {
      const auto stage = static_cast<Stage>(i);
      const pipeline::StageTimes::One& one = (*run.times)[stage];
      const double busy = busy_share(*run.times, stage);
      rows += row(cell(stage_name(stage)) + number_cell(std::to_string(one.threads)) +
                      number_cell(fmt::format("{:.2f}", one.busy_seconds)) +
                      number_cell(percent(busy)) +
                      bar_cell(of_split(static_cast<std::uint64_t>(10'000 * busy), 1), 10'000),
                  stage == slowest(*run.times) ? RowLook::kMarked : RowLook::kPlain);
    }
    out += table({"stage", "#threads", "#seconds of work", "#of their time", ""}, rows) +
           paragraph(aside("Decoding, fingerprinting and packing share the same threads."));
  }
  out +=
      paragraph(fmt::format("{} at {} inputs a second; at most {} of memory.",
                            in_seconds(run.seconds), rate_of(run), in_bytes(run.peak_rss_bytes)));
  return section("Time", out);
}

std::string command(const IngestPage::Run& run) {
  std::string text;
  for (const std::string& word : run.command) text += (text.empty() ? "" : " ") + shell_word(word);
  return paragraph("In " + name_html(run.folder) + ":") + command_line(text) +
         paragraph(
             "The same inputs and settings give the same cache, byte for byte, on any machine "
             "with any number of threads.");
}

std::string settings(const IngestPage& page) {
  std::string rows;
  for (const auto& [name, value] : pipeline::entries(page.manifest.settings)) {
    rows += row(cell(escaped(name)) + cell(escaped(value)));
  }
  rows += row(cell("digest") + cell(fmt::format("<code>{}</code>", escaped(page.digest))));
  return section(page.run ? "How to repeat it" : "The cache",
                 (page.run ? command(*page.run) : std::string()) +
                     paragraph("To check every byte of the cache:") +
                     command_line("winnow verify " + shell_word(page.cache)) +
                     table({"what shapes the cache", ""}, rows));
}

}  // namespace

void Examples::add(const pipeline::LedgerRow& row) {
  std::vector<pipeline::LedgerRow>& rows = rows_[static_cast<std::size_t>(row.fate)];
  if (row.fate == Fate::kOk && row.reason.empty()) return;
  if (rows.size() < kMost) rows.push_back(row);
}

IngestPage read_page(const pipeline::Cache& cache) {
  IngestPage page;
  page.manifest = cache.manifest();
  page.digest = cache.digest();
  cache.for_each_remark([&](const pipeline::LedgerRow& row) {
    page.examples.add(row);
    page.remarks.add(row);
  });
  page.audit = look_at(cache, page.examples.of(Fate::kOk));
  return page;
}

std::string html_of(const IngestPage& page) {
  return html_page({.title = title_of(page) + " - winnow ingest",
                    .body = opening(page) + sources(page) + fates(page) + images(page) +
                            (page.audit ? issues_section(*page.audit) : "") + samples(page) +
                            classes(page) + (page.audit ? classes_section(*page.audit) : "") +
                            times(page) + settings(page),
                    .made = page.made,
                    .style = page.audit ? kAuditStyle : ""});
}

}  // namespace winnow::app
