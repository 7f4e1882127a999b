#include <exception>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "python/core/bind.h"

namespace winnow::python {
namespace nb = nanobind;

namespace {

// The classes of winnow/errors.py. The references are never released, because the translator may be
// called until the interpreter ends.
struct Classes {
  PyObject* error;
  PyObject* usage;
  PyObject* refused;
  PyObject* data;
  PyObject* system;
  PyObject* stopped;
};

void translate(const std::exception_ptr& thrown, void* given) {
  const auto& classes = *static_cast<const Classes*>(given);
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    PyErr_SetString(classes.usage, error.what());
  } catch (const RefusedError& error) {
    PyErr_SetString(classes.refused, error.what());
  } catch (const FormatError& error) {
    PyErr_SetString(classes.data, error.what());
  } catch (const SystemError& error) {
    PyErr_SetString(classes.system, error.what());
  } catch (const StoppedError& error) {
    PyErr_SetString(classes.stopped, error.what());
  } catch (const comm::AgreedError& error) {  // from any rank, by its original class
    constexpr int kUsage = 2;
    constexpr int kRefused = 3;
    constexpr int kStopped = 75;
    PyErr_SetString(error.exit_code() == kUsage     ? classes.usage
                    : error.exit_code() == kRefused ? classes.refused
                    : error.exit_code() == kStopped ? classes.stopped
                                                    : classes.error,
                    error.what());
  } catch (const Error& error) {
    PyErr_SetString(classes.error, error.what());
  }  // nanobind handles the others
}

}  // namespace

void bind_errors(nb::module_& /*core*/) {
  const nb::module_ errors = nb::module_::import_("winnow.errors");
  const auto named = [&](const char* name) {
    return nb::object(errors.attr(name)).release().ptr();
  };
  auto* classes = new Classes{named("Error"),     named("UsageError"),  named("RefusedError"),
                              named("DataError"), named("SystemFault"), named("StoppedError")};
  nb::register_exception_translator(translate, classes);
}

}  // namespace winnow::python
