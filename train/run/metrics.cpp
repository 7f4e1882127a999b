#include "train/run/metrics.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.h"
#include "common/file.h"

namespace winnow::train {

MetricsLog::MetricsLog(const std::filesystem::path& path, std::int64_t step) : path_(path) {
  if (std::filesystem::exists(path)) {
    std::istringstream lines(read_text(path));
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      if (row.is_object() && row.value("step", std::int64_t{0}) <= step) kept += line + "\n";
    }
    write_file_durably(path, kept);
  }
  out_.open(path, std::ios::app);
  if (!out_) throw_errno("cannot open " + path.string());
}

void MetricsLog::write(std::int64_t step, double epoch, double wall,
                       const std::map<std::string, double>& values) {
  nlohmann::ordered_json row{{"step", step}, {"epoch", epoch}, {"wall", wall}};
  for (const auto& [name, value] : values) row[name] = value;
  out_ << row.dump() << '\n' << std::flush;
  if (!out_) throw_errno("cannot write " + path_.string());
}

}  // namespace winnow::train
