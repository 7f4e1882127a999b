#pragma once

#include <string>

#include "app/predict/inputs.h"
#include "app/predict/predict.h"
#include "app/predict/tables.h"

namespace winnow::app {

// Adds a result to the report: its fate, its classes, and the surest and least sure examples.
void add_to_report(const TableContent& telling, const Inputs& inputs, std::uint64_t at,
                   const ImageResult& result, PredictReport& report);

// report.json: equal reports give equal texts. Facts about one call only are left out.
std::string report_text(const PredictReport& report);
// throws FormatError
PredictReport parse_report(const std::string& text, const std::string& where);

}  // namespace winnow::app
