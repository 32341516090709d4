// Threads that live only as long as one call, so that nothing survives a fork.
//
// parallel_for hands out indices one at a time: a late thread holds up at most one piece, and
// waiting threads sleep. The calling thread works too and polls for signals through `poll`.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace treewright {

// Calls body(index, thread) for index in [0, count). Exceptions end the loop early and the first
// one is thrown again on the calling thread. poll() is called by the calling thread between its
// pieces; it may throw to end the work.
template <class Body, class Poll>
void parallel_for(std::int64_t count, int n_threads, Body&& body, Poll&& poll) {
  const int extra = static_cast<int>(std::min<std::int64_t>(n_threads, count)) - 1;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto work = [&](int thread, bool caller) {
    try {
      for (;;) {
        const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= count || stop.load(std::memory_order_relaxed)) return;
        body(i, thread);
        if (caller) poll();
      }
    } catch (...) {
      std::lock_guard<std::mutex> guard(failure_lock);
      if (!failure) failure = std::current_exception();
      stop.store(true, std::memory_order_relaxed);
    }
  };
  if (extra <= 0) {
    work(0, true);
  } else {
    std::vector<std::thread> team;
    team.reserve(extra);
    for (int t = 1; t <= extra; ++t) {
      try {
        team.emplace_back(work, t, false);
      } catch (const std::system_error&) {
        break;  // the system has no more threads to give; those that run do the work
      }
    }
    work(0, true);
    for (auto& member : team) member.join();
  }
  if (failure) std::rethrow_exception(failure);
}

template <class Body>
void parallel_for(std::int64_t count, int n_threads, Body&& body) {
  parallel_for(count, n_threads, body, [] {});
}

}  // namespace treewright
