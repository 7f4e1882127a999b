#pragma once

#include <string>

#include "app/predict/inputs.h"
#include "app/predict/predict.h"
#include "app/predict/tables.h"

namespace winnow::app {

// Adds one result to the report: its outcome, its classes, and whether it is a most or least sure
// example.
void add_to_report(const TableContent& telling, const Inputs& inputs, std::uint64_t at,
                   const ImageResult& result, PredictReport& report);

// The text of report.json. Equal results give equal texts: facts about one call are left out.
std::string report_text(const PredictReport& report);
// Parses report.json. Throws FormatError.
PredictReport parse_report(const std::string& text, const std::string& where);

}  // namespace winnow::app
