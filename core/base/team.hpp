// Threads that serve all parallel loops of one call.
//
// To start a thread costs as much as a small loop, and a fit has dozens of them. A team starts its
// members with its first loop, wakes them for the next ones, and ends with the call, so that
// nothing survives a fork. It belongs to the thread that made it; parallel_for (threads.hpp) finds
// it there.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/callable.hpp"

namespace treewright {

class Team {
 public:
  Team() : before_(current()) { current() = this; }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  ~Team() {
    current() = before_;
    {
      std::lock_guard<std::mutex> guard(lock_);
      is_over_ = true;
    }
    wake_.notify_all();
    for (std::thread& member : members_) member.join();
  }

  // That of the calling thread, if there is one.
  static Team*& current() {
    thread_local Team* team = nullptr;
    return team;
  }

  // Calls work(thread), which does not throw, as thread 0 and on up to `extra` members until all
  // have returned. A member that comes late, when thread 0 has returned, is not waited for. False,
  // and nothing is done, within another loop of the same team.
  bool run(int extra, Callable<void(int)> work) {
    if (is_busy_) return false;
    is_busy_ = true;
    start(extra);
    {
      std::lock_guard<std::mutex> guard(lock_);
      work_ = &work;
      n_open_ = n_wanted_ = std::min(extra, static_cast<int>(members_.size()));
    }
    wake_.notify_all();
    work(0);
    {
      std::unique_lock<std::mutex> guard(lock_);
      n_open_ = 0;
      done_.wait(guard, [&] { return n_running_ == 0; });
    }
    is_busy_ = false;
    return true;
  }

 private:
  void start(int wanted) {
    while (static_cast<int>(members_.size()) < wanted) {
      try {
        members_.emplace_back([this] { serve(); });
      } catch (const std::system_error&) {
        return;  // the system has no more threads to give; those that run do the work
      }
    }
  }

  void serve() {
    std::unique_lock<std::mutex> guard(lock_);
    for (;;) {
      wake_.wait(guard, [&] { return is_over_ || n_open_ > 0; });
      if (is_over_) return;
      const int thread = n_wanted_ - --n_open_;  // from 1 to n_wanted_
      ++n_running_;
      const Callable<void(int)> work = *work_;
      guard.unlock();
      work(thread);
      guard.lock();
      if (--n_running_ == 0) done_.notify_one();
    }
  }

  Team* const before_;
  bool is_busy_ = false;  // the owner's alone
  std::vector<std::thread> members_;
  std::mutex lock_;
  std::condition_variable wake_, done_;
  const Callable<void(int)>* work_ = nullptr;
  int n_wanted_ = 0;   // places of the running loop,
  int n_open_ = 0;     // those that no member has taken,
  int n_running_ = 0;  // and members that work
  bool is_over_ = false;
};

}  // namespace treewright
