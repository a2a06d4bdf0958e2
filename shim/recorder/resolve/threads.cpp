#include "recorder/resolve/threads.h"

#include <algorithm>

#include "recorder/resolve/texts.h"

namespace hitch::resolve {

pid_t Threads::outside_id(std::uint32_t tid) {
  if (!translate_) return static_cast<pid_t>(tid);
  for (const pid_t candidate : process_.threads()) {
    if (process_.id_inside(candidate) == tid) return candidate;
  }
  return 0;
}

void Threads::write(std::uint32_t id) {
  const Thread& thread = threads_[id];
  out_.put(format::trace::Thread{id, thread.tid, thread.name, thread.started});
}

void Threads::started(std::uint32_t id, std::uint32_t tid, std::uint64_t key) {
  threads_.resize(std::max<std::size_t>(threads_.size(), id + std::size_t{1}));
  if (threads_[id].living) return;  // known before it allocated
  Thread thread{tid, outside_id(tid), key, {}, true};
  thread.name = clean_utf8(process_.thread_name(thread.outside));
  threads_[id] = std::move(thread);
  living_.push_back(id);
  write(id);
}

void Threads::ended(std::uint32_t id) {
  if (id >= threads_.size()) return;
  threads_[id].living = false;
  living_.erase(std::remove(living_.begin(), living_.end(), id), living_.end());
}

void Threads::refresh_names() {
  for (const std::uint32_t id : living_) {
    Thread& thread = threads_[id];
    if (thread.outside == 0) thread.outside = outside_id(thread.tid);
    std::string name = clean_utf8(process_.thread_name(thread.outside));
    if (name.empty() || name == thread.name) continue;
    thread.name = std::move(name);
    write(id);
  }
}

void Threads::look() {
  alive_.clear();
  const std::vector<pid_t> present = process_.threads();
  if (!translate_) {
    alive_.insert(present.begin(), present.end());
    return;
  }
  std::unordered_map<pid_t, std::uint32_t> known;
  for (const pid_t tid : present) {
    const auto cached = inside_.find(tid);
    const std::uint32_t inside = cached != inside_.end() ? cached->second : process_.id_inside(tid);
    known.emplace(tid, inside);
    alive_.insert(inside);
  }
  inside_.swap(known);
}

}  // namespace hitch::resolve
