#include "tools/gallery_report.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "common/file.h"

namespace winnow::tools {
namespace {

constexpr std::string_view kPageBegins = "<!DOCTYPE html>";

bool is_page(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, kPageBegins.size()> begin{};
  file.read(begin.data(), begin.size());
  return std::string_view(begin.data(), static_cast<std::size_t>(file.gcount())) == kPageBegins;
}

}  // namespace

void check_report_path(const std::filesystem::path& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw UsageError("the report cannot be written to " + path.string() + ": there is no folder " +
                     folder.string() + "; make it first");
  }
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) &&
      !(std::filesystem::is_regular_file(status) && is_page(path))) {
    throw UsageError(path.string() +
                     " is there already and is no page; name another file for the report");
  }
}

std::string title_of(const pipeline::Manifest& manifest) {
  std::string title;
  for (const pipeline::SourceInfo& source : manifest.sources) {
    title += (title.empty() ? "" : ", ") + source.name;
  }
  return title;
}

void add_report_flag(CLI::App& app, std::filesystem::path& path) {
  app.add_option("--report", path,
                 "Write a page to look at the groups and to judge them: one HTML file that needs "
                 "nothing else");
}

void write_gallery(const Session& session, const GalleryInput& input, const GallerySubject& subject,
                   const std::filesystem::path& path) {
  const GalleryLimits limits{.threads = thread_plan(session, 0).cores, .stop = session.stop};
  write_file_durably(path, html_of(make_gallery(input, subject, limits)));
  say(session, fmt::format("report: {}", path.string()));
}

void write_gallery(const Session& session, const Deduplicated& what,
                   std::span<const std::string> classes, const GallerySubject& subject,
                   const std::filesystem::path& path) {
  const dedup::Fingerprints table =
      what.columns({"labels", "widths_px", "heights_px", "file_hashes"});
  const GalleryInput input{.result = what.result,
                           .table = table,
                           .threshold = dedup::effective_threshold(what.options),
                           .classes = classes,
                           .name_of = what.name_of};
  write_gallery(session, input, subject, path);
}

}  // namespace winnow::tools
