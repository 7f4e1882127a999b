#include "tests/gpu/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>

#include "common/error.h"

namespace winnow::gpu {
namespace {

std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

void write(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path other = path.string() + ".new";
  std::ofstream file(other);
  file << text;
  file.close();
  if (!file) throw Error("cannot write " + other.string());
  std::filesystem::rename(other, path);
}

}  // namespace

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string json_object(const Facts& facts) {
  std::string text;
  for (const auto& [key, value] : facts) {
    text += (text.empty() ? "" : ", ") + in_quotes(key) + ": " + in_quotes(value);
  }
  return "{" + text + "}";
}

// The file of items: the facts in the first line, then for each item its name, its state and its
// JSON, each in a line of its own.
Report::Report(std::filesystem::path folder, std::string stage, Facts facts)
    : folder_(std::move(folder)), stage_(std::move(stage)), facts_json_(json_object(facts)) {
  std::filesystem::create_directories(folder_);
  std::ifstream file(folder_ / (stage_ + ".items"));
  std::string line;
  if (!std::getline(file, line) || line != facts_json_) return;
  Row row;
  while (std::getline(file, row.name) && std::getline(file, row.state) &&
         std::getline(file, row.json)) {
    if (row.state == "passed") rows_.push_back(row);  // failed items are tried again
  }
}

bool Report::has(const std::string& item) const {
  for (const Row& row : rows_) {
    if (row.name == item) return true;
  }
  return false;
}

void Report::run(const std::string& item, const std::function<void()>& work) {
  if (has(item)) return;
  try {
    work();
  } catch (const std::exception& error) {
    add(item, false, {}, error.what());
  }
}

void Report::keep(Row row) {
  rows_.push_back(std::move(row));
  std::string text = facts_json_ + "\n";
  for (const Row& r : rows_) text += r.name + "\n" + r.state + "\n" + r.json + "\n";
  write(folder_ / (stage_ + ".items"), text);
  write_json(false);
}

void Report::add(const std::string& item, bool passed, const Figures& figures,
                 const std::string& note, const Facts& texts) {
  const std::string state = passed ? "passed" : "failed";
  std::string json = "{\"name\": " + in_quotes(item) + ", \"state\": \"" + state + "\"";
  std::string line;
  for (const auto& [key, value] : figures) {
    json += ", " + in_quotes(key) + ": " + number(value);
    line += "  " + key + " " + number(value);
  }
  for (const auto& [key, value] : texts) {
    json += ", " + in_quotes(key) + ": " + in_quotes(value);
    line += "  " + key + " " + value;
  }
  if (!note.empty()) json += ", \"note\": " + in_quotes(note);
  std::printf("%-8s %s%s%s%s\n", state.c_str(), item.c_str(), line.c_str(),
              note.empty() ? "" : "  ", note.c_str());
  std::fflush(stdout);
  keep({item, state, json + "}"});
}

void Report::leave_out(const std::string& item, const std::string& why) {
  std::printf("left out %s: %s\n", item.c_str(), why.c_str());
  keep({item, "left out",
        "{\"name\": " + in_quotes(item) + ", \"state\": \"left out\", \"note\": " + in_quotes(why) +
            "}"});
}

int Report::count(const char* state) const {
  return static_cast<int>(std::ranges::count(rows_, state, &Row::state));
}

void Report::write_json(bool finished) const {
  std::string items;
  for (const Row& row : rows_) items += (items.empty() ? "\n  " : ",\n  ") + row.json;
  write(folder_ / (stage_ + ".json"),
        "{\"schema\": \"winnow.gpu/1\", \"stage\": " + in_quotes(stage_) +
            ", \"facts\": " + facts_json_ + ",\n \"finished\": " + (finished ? "true" : "false") +
            ", \"passed\": " + std::to_string(count("passed")) + ", \"failed\": " +
            std::to_string(count("failed")) + ", \"items\": [" + items + "\n]}\n");
}

bool Report::finish() {
  write_json(true);
  const int passed = count("passed");
  const int failed = count("failed");
  std::printf("%s: %d passed, %d failed; %s\n", stage_.c_str(), passed, failed,
              (folder_ / (stage_ + ".json")).string().c_str());
  return failed == 0 && passed > 0;
}

}  // namespace winnow::gpu
