// Synthetic traces -> Report, for the tests of this folder.
#pragma once
#include <functional>

#include "support/sample_traces.h"
#include "support/trace_builder.h"
#include "viewer/analyse/report.h"

namespace hitch::analyse {

Report report_of(support::TraceBuilder& builder, const RuleChoice& choice = {});
inline Report report_of(support::TraceBuilder&& builder, const RuleChoice& choice = {}) {
  return report_of(builder, choice);
}

// 300 frames of `usual`, frame 150 changed by `change`.
Report one_changed_frame(const support::FrameSpec& usual,
                         const std::function<void(support::FrameSpec&)>& change,
                         const RuleChoice& choice = {});

}  // namespace hitch::analyse
