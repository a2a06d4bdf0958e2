#include "recorder/faults/fault_source.h"

namespace hitch::faults {

namespace {

class NoFaults final : public FaultSource {
 public:
  SourceKind kind() const override { return SourceKind::kNone; }
  std::string name() const override { return "none"; }
};

}  // namespace

std::unique_ptr<FaultSource> open_none() { return std::make_unique<NoFaults>(); }

}  // namespace hitch::faults
