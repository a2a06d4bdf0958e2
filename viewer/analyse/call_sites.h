// Which call sites make the allocator's time, over the run and in one hitch.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "viewer/analyse/hitches.h"
#include "viewer/model/frame_sites.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

struct CallSites {
  // By time in the allocator; by calls when calls were not timed.
  std::vector<model::SiteId> ranked;
  double total_ns = 0;
  std::uint64_t total_calls = 0;
  // How many sites of `ranked`, best first, make 50, 80 and 95 % of the total.
  static constexpr std::array<int, 3> kShares = {50, 80, 95};
  std::array<std::size_t, 3> sites_for_share{};
};

CallSites call_sites_of(const model::Trace& trace, const Measures& measures);

// One call site in one hitch, against the frames around it.
struct HitchSite {
  model::FrameSite work;
  double usual_calls = 0;  // median over the frames around, those without a call counting 0
  double usual_ns = 0;
  double excess_ns = 0;
};

// Largest excess first: of time, then of calls. `rows` must hold the hitch and the frames around
// it.
std::vector<HitchSite> sites_of(const Hitch& hitch, const model::Trace& trace,
                                const model::FrameSites& rows);

// Marks in `wanted` the frames whose rows sites_of() needs.
void want_frames_around(const Hitch& hitch, const model::Trace& trace, std::vector<bool>& wanted);

}  // namespace hitch::analyse
