#include "unwind/unwinder.h"

namespace hitch::unwind {

const char* prepare(DlopenFn, DlsymFn) { return nullptr; }

unsigned capture(std::uintptr_t*, unsigned) { return 0; }

}  // namespace hitch::unwind
