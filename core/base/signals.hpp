// Answering Ctrl-C from long work that has released the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace treewright {

inline void check_signals() {
  nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// The same from the calling thread, at most every 50 ms: taking the GIL may mean waiting.
class SignalPoll {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    check_signals();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace treewright
