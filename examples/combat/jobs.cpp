#include "jobs.h"

#include <pthread.h>

#include <string>
#include <utility>

namespace combat {

Jobs::Jobs(int workers) {
  for (int i = 0; i < workers; ++i) {
    workers_.emplace_back([this] { work(); });
    const std::string name = "worker " + std::to_string(i);
    pthread_setname_np(workers_.back().native_handle(), name.c_str());
  }
}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wanted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Jobs::submit(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(job));
    ++unfinished_;
  }
  wanted_.notify_one();
}

void Jobs::wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return unfinished_ == 0; });
}

void Jobs::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    std::function<void()> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    if (--unfinished_ == 0) finished_.notify_all();
  }
}

}  // namespace combat
