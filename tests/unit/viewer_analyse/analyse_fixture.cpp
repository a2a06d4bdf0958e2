#include "analyse_fixture.h"

#include <stdexcept>

namespace hitch::analyse {

Report report_of(support::TraceBuilder& builder, const RuleChoice& choice) {
  auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
  if (!reader) throw std::runtime_error(reader.error().sentence());
  return build_report(*reader, choice, {});
}

Report one_changed_frame(const support::FrameSpec& usual,
                         const std::function<void(support::FrameSpec&)>& change,
                         const RuleChoice& choice) {
  support::TraceBuilder builder;
  builder.preamble();
  for (int i = 0; i < 300; ++i) {
    support::FrameSpec spec = usual;
    if (i == 150) change(spec);
    builder.frame(spec);
  }
  return report_of(builder.finish(), choice);
}

}  // namespace hitch::analyse
