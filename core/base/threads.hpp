// Threads that live only as long as one call, so that nothing survives a fork.
//
// parallel_for hands out indices one at a time: a late thread holds up at most one piece, and
// waiting threads sleep. The calling thread works too and polls for signals through `poll`. The
// others are those of the calling thread's Team, or are started for the loop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/callable.hpp"

namespace treewright {

// Calls body(index, thread) for index in [0, count). Exceptions end the loop early and the first
// one is thrown again on the calling thread. poll() is called by the calling thread between its
// pieces; it may throw to end the work.
void parallel_for(std::int64_t count, int n_threads, Callable<void(std::int64_t, int)> body,
                  Callable<void()> poll);
void parallel_for(std::int64_t count, int n_threads, Callable<void(std::int64_t, int)> body);

// Tasks that may bring forth further tasks. A thread without work sleeps until there is some, or
// until all are idle and the work is done.
template <class Task>
class TaskQueue {
 public:
  void push(Task task) {
    {
      std::lock_guard<std::mutex> guard(lock_);
      tasks_.push_back(std::move(task));
    }
    n_hungry_.fetch_sub(1, std::memory_order_relaxed);
    wake_.notify_one();
  }

  // Whether an exception has ended the work: what is still done is for nothing.
  bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }

  // Whether more threads wait than tasks do; cheap enough to be asked at every node.
  bool is_hungry() const { return n_hungry_.load(std::memory_order_relaxed) > 0; }

  // Works on tasks until none is left: body(task, thread) on each of the threads. poll() is called
  // by the calling thread now and then while it waits; it may throw to end the work.
  template <class Body>
  void run(int n_threads, Body&& body, Callable<void()> poll) {
    n_working_ = 0;
    n_hungry_ = -static_cast<std::int64_t>(tasks_.size());
    is_stopped_ = false;
    parallel_for(n_threads, n_threads, [&](std::int64_t, int thread) {
      Task task;
      try {
        while (take(task, thread == 0, poll)) {
          body(std::move(task), thread);
          finish();
        }
      } catch (...) {
        stop();
        throw;
      }
    });
  }

 private:
  bool take(Task& task, bool is_caller, Callable<void()> poll) {
    n_hungry_.fetch_add(1, std::memory_order_relaxed);
    std::unique_lock<std::mutex> guard(lock_);
    while (!is_stopped_ && tasks_.empty() && n_working_ > 0) {
      if (!is_caller) {
        wake_.wait(guard);
      } else if (wake_.wait_for(guard, std::chrono::milliseconds(50)) == std::cv_status::timeout) {
        guard.unlock();
        poll();
        guard.lock();
      }
    }
    if (is_stopped_ || tasks_.empty()) {
      wake_.notify_all();
      return false;
    }
    task = std::move(tasks_.front());
    tasks_.pop_front();
    ++n_working_;
    return true;
  }

  void finish() {
    std::lock_guard<std::mutex> guard(lock_);
    --n_working_;
    if (!n_working_ && tasks_.empty()) wake_.notify_all();
  }

  void stop() {
    std::lock_guard<std::mutex> guard(lock_);
    is_stopped_ = true;
    wake_.notify_all();
  }

  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::atomic<std::int64_t> n_hungry_{0};  // threads that want a task, less the tasks there are
  int n_working_ = 0;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace treewright
