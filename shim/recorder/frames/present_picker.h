// Whose presents are the frames, when more than one thread or interface presents.
//
// The rule: once the game marks its frames itself (Api::kMark), marks alone count. Before that, a
// source is a thread with an interface; each of its presents adds 1 to its score, and every present
// of anybody takes a fiftieth off all scores. The first source seen is the one; another takes over
// when its score is half again as high plus two: a splash window's few presents do not count for
// long, and two windows that alternate do not change places.
#pragma once
#include <cstdint>
#include <vector>

#include "format/buffer_records.h"

namespace hitch::frames {

class PresentPicker {
 public:
  // Whether this present is a frame boundary.
  bool is_boundary(std::uint32_t thread, format::Api api) {
    if (marked_ != (api == format::Api::kMark)) {
      if (marked_) return false;
      marked_ = true;
      sources_.clear();
    }
    std::size_t self = sources_.size();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      sources_[i].score *= 0.98;
      if (sources_[i].thread == thread && sources_[i].api == api) self = i;
    }
    if (self == sources_.size()) {
      // Threads that presented once and ended long ago must not add up.
      if (self >= kMostSources) return false;
      sources_.push_back({thread, api, 0});
    }
    sources_[self].score += 1;
    if (sources_.size() == 1) chosen_ = 0;
    if (self != chosen_ && sources_[self].score > sources_[chosen_].score * 1.5 + 2) chosen_ = self;
    return self == chosen_;
  }

 private:
  struct Source {
    std::uint32_t thread;
    format::Api api;
    double score;
  };
  static constexpr std::size_t kMostSources = 64;
  std::vector<Source> sources_;
  std::size_t chosen_ = 0;
  bool marked_ = false;
};

}  // namespace hitch::frames
