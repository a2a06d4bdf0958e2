#include "viewer/app/recover_command.h"

#include <ostream>

#include "viewer/load/recover.h"

namespace hitch::app {

int recover_command(const RecoverOptions& options, std::ostream& out, std::ostream& errors) {
  auto recovery = load::recover(options.trace, options.output);
  if (!recovery) {
    errors << "hitchtrace: " << options.trace << " " << recovery.error().sentence() << '\n';
    return 1;
  }
  if (recovery->was_whole) {
    out << options.trace << " is whole (" << recovery->chunks << " chunks): nothing to do\n";
    return 0;
  }
  out << (options.output.empty() ? options.trace : options.output) << ": " << recovery->chunks
      << " chunks kept, index rewritten";
  if (recovery->removed_bytes > 0) {
    out << ", " << recovery->removed_bytes << " unreadable bytes at the end removed";
  }
  if (recovery->skipped_bytes > 0) {
    out << ", " << recovery->skipped_bytes << " damaged bytes in between left out";
  }
  out << '\n';
  return 0;
}

}  // namespace hitch::app
