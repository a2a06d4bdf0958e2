// The planted hitches. Each does a fixed amount of one kind of work, sized at start-up so that it
// takes about 7 ms of processor time on this machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "jobs.h"
#include "random.h"
#include "schedule.h"

namespace combat {

class Plants {
 public:
  // Measures the machine; takes a few tens of milliseconds.
  Plants(Jobs& jobs, std::uint64_t seed);

  // Makes the current frame a hitch. Returns how long that took, in milliseconds.
  double run(Plant plant);

 private:
  using Block = std::unique_ptr<char[]>;

  void reload_settings(int rounds);  // kAlloc
  Block load_terrain();              // kFault, kWait
  void find_paths(int rounds);       // kCpu, kLock
  void save_while_locked();          // kLock
  void stream_terrain();             // kWait

  Jobs& jobs_;
  Random random_;
  std::vector<Block> settings_;
  std::vector<Block> terrain_;
  std::mutex saving_;
  int reload_rounds_ = 0;
  int path_rounds_ = 0;
  std::size_t terrain_bytes_ = 0;
  volatile float path_length_ = 0;
};

}  // namespace combat
