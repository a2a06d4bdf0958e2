// The game's workers: four threads and one queue.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace combat {

class Jobs {
 public:
  explicit Jobs(int workers);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  void submit(std::function<void()> job);
  // Returns when every job submitted so far is done.
  void wait();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable finished_;
  std::deque<std::function<void()>> queue_;
  int unfinished_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace combat
