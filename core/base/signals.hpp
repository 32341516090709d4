// Long work that has released the GIL: it answers Ctrl-C, and it is over before the interpreter is.
//
// Python ends a thread that asks for the GIL after the interpreter has begun to end. Within a call
// of ours this ends the process with an abort, because frames of nanobind let no unwinding through.
// So calls that release the GIL are counted; before the end, end_calls() has those of other threads
// stop as Ctrl-C would, waits for them, and refuses new ones. The thread that ends the interpreter
// may go on: functions that users registered with atexit earlier run after this one.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace treewright {

struct Calls {
  std::atomic<bool> are_over{false};
  std::atomic<int> n_running{0};
  std::thread::id last;  // the thread that ends the interpreter, and may call until then
};

inline Calls& calls() {
  static Calls of_all_threads;
  return of_all_threads;
}

// With the GIL. SystemExit ends a thread of Python without a word.
inline void refuse_at_end() {
  if (!calls().are_over.load(std::memory_order_relaxed)) return;
  if (calls().last == std::this_thread::get_id()) return;
  PyErr_SetNone(PyExc_SystemExit);
  throw nanobind::python_error();
}

class GilRelease {
  struct Count {
    Count() {
      refuse_at_end();
      ++calls().n_running;
    }
    ~Count() { --calls().n_running; }
  };
  Count count_;  // until the GIL is held again
  nanobind::gil_scoped_release release_;
};

inline void check_signals() {
  nanobind::gil_scoped_acquire gil;
  refuse_at_end();
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

// From the main thread, when nothing of it runs any more.
inline void end_calls() {
  calls().last = std::this_thread::get_id();
  calls().are_over = true;
  while (calls().n_running > 0) {
    {
      nanobind::gil_scoped_release release;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
  }
}

}  // namespace treewright
