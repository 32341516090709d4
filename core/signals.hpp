// Answering Ctrl-C from long work that has released the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace treewright {

// Answers Ctrl-C about ten times a second; cheaper than taking the GIL after every piece.
class SignalPoll {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace treewright
