#pragma once

#include <string>

#include "app/predict/inputs.h"
#include "app/predict/predict.h"
#include "app/predict/tables.h"

namespace winnow::app {

// Adds a result to what the report says: its class of the ledger, the classes that it is of, and
// whether it is among the surest or the least sure of them.
void add_to_report(const Telling& telling, const Inputs& inputs, std::uint64_t at,
                   const ImageResult& result, PredictReport& report);

// report.json. The same report, the same text; what is of one call is not in it.
std::string report_text(const PredictReport& report);
PredictReport parse_report(const std::string& text, const std::string& where);  // FormatError

}  // namespace winnow::app
