// The game's threads: names, and which of them still exist. Ids in buffer records are those the
// game sees; /proc has the recorder's. They differ when the game runs in a pid namespace of its
// own.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "recorder/resolve/process_files.h"
#include "recorder/resolve/record_out.h"

namespace hitch::resolve {

class Threads {
 public:
  // `translate`: the game's ids are not the recorder's.
  Threads(RecordOut& out, const ProcessFiles& process, bool translate)
      : out_(out), process_(process), translate_(translate) {}

  // Told again about a thread that lives: nothing happens.
  void started(std::uint32_t id, std::uint32_t tid, std::uint64_t key);
  // The game's id of a thread the recorder sees as `tid`.
  std::uint32_t inside_id(pid_t tid) const {
    return translate_ ? process_.id_inside(tid) : static_cast<std::uint32_t>(tid);
  }
  void ended(std::uint32_t id);
  // Reads the names of living threads again: most are set after the thread's first allocations.
  void refresh_names();
  const std::string& name(std::uint32_t id) const { return threads_[id].name; }
  // The recorder's number of a thread; 0: not known (yet).
  pid_t outside(std::uint32_t id) const { return threads_[id].outside; }

  // Looks once which threads exist; is_alive() answers from that look.
  void look();
  bool is_alive(std::uint32_t tid) const { return alive_.contains(tid); }

 private:
  struct Thread {
    std::uint32_t tid = 0;
    pid_t outside = 0;
    std::uint64_t started = 0;
    std::string name;
    bool living = false;
  };
  pid_t outside_id(std::uint32_t tid);
  void write(std::uint32_t id);

  RecordOut& out_;
  const ProcessFiles& process_;
  bool translate_;
  std::vector<Thread> threads_;  // by dense id
  std::vector<std::uint32_t> living_;
  std::unordered_set<std::uint32_t> alive_;
  std::unordered_map<pid_t, std::uint32_t> inside_;  // cache of id_inside
};

}  // namespace hitch::resolve
