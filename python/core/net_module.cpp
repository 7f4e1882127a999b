#include "python/core/bind.h"

NB_MODULE(_net, net) {
  nanobind::set_leak_warnings(false);
  net.doc() = "What of winnow's Python package computes nets; use it through the package winnow.";
  winnow::python::bind_errors(net);
  winnow::python::bind_predict(net);
}
