#include "viewer/app/dump_command.h"

#include <ostream>
#include <string>
#include <vector>

#include "viewer/load/trace_reader.h"
#include "viewer/render/record_dump.h"

namespace hitch::app {

int dump_command(const DumpOptions& options, std::ostream& out, std::ostream& errors) {
  auto source = load::open_file(options.trace);
  if (!source) {
    errors << "hitchtrace: " << options.trace << " " << source.error().sentence() << '\n';
    return 1;
  }
  auto reader = load::TraceReader::open(*source);
  if (!reader) {
    errors << "hitchtrace: " << options.trace << " " << reader.error().sentence() << '\n';
    return 1;
  }
  const auto format = options.json ? render::DumpFormat::kJsonLines : render::DumpFormat::kText;
  std::vector<std::string> warnings;
  if (options.events) {
    warnings = render::write_events(*reader, format, out);
  } else {
    render::write_dump(*reader, format, out);
  }
  warnings.insert(warnings.end(), reader->warnings().begin(), reader->warnings().end());
  for (const std::string& warning : warnings) {
    errors << "hitchtrace: warning: " << warning << '\n';
  }
  return 0;
}

}  // namespace hitch::app
