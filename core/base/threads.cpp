#include "base/threads.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "base/team.hpp"

namespace treewright {

void parallel_for(std::int64_t count, int n_threads, Callable<void(std::int64_t, int)> body,
                  Callable<void()> poll) {
  const int extra = static_cast<int>(std::min<std::int64_t>(n_threads, count)) - 1;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto work = [&](int thread) {
    try {
      for (;;) {
        const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= count || stop.load(std::memory_order_relaxed)) return;
        body(i, thread);
        if (thread == 0) poll();
      }
    } catch (...) {
      std::lock_guard<std::mutex> guard(failure_lock);
      if (!failure) failure = std::current_exception();
      stop.store(true, std::memory_order_relaxed);
    }
  };
  Team* const own = Team::current();
  if (extra <= 0) {
    work(0);
  } else if (!own || !own->run(extra, work)) {
    std::vector<std::thread> team;
    team.reserve(extra);
    for (int t = 1; t <= extra; ++t) {
      try {
        team.emplace_back(work, t);
      } catch (const std::system_error&) {
        break;  // the system has no more threads to give; those that run do the work
      }
    }
    work(0);
    for (auto& member : team) member.join();
  }
  if (failure) std::rethrow_exception(failure);
}

void parallel_for(std::int64_t count, int n_threads, Callable<void(std::int64_t, int)> body) {
  parallel_for(count, n_threads, body, [] {});
}

}  // namespace treewright
