#include "present/driver_name.h"

#include <dlfcn.h>

#include <cstring>

#include "libc/real_libc.h"
#include "record/process.h"

namespace hitch::present {
namespace {

constinit bool g_asked = false;
constexpr unsigned kRenderer = 0x1F01;  // GL_RENDERER
constexpr unsigned kVersion = 0x1F02;   // GL_VERSION

void append(char* text, std::size_t capacity, const char* more) {
  const std::size_t used = std::strlen(text);
  std::size_t length = std::strlen(more);
  if (used + length + 1 > capacity) length = capacity - used - 1;
  std::memcpy(text + used, more, length);
  text[used + length] = '\0';
}

}  // namespace

void note_driver_name() {
  if (g_asked) return;
  g_asked = true;
  const record::Process* process = record::g_process;
  if (process == nullptr || process->header == nullptr || libc::g_real.dlopen == nullptr) return;
  using GetStringFn = const char* (*)(unsigned);
  GetStringFn get_string = nullptr;
  for (const char* library : {"libGL.so.1", "libOpenGL.so.0", "libGLESv2.so.2"}) {
    if (void* handle = libc::g_real.dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
      get_string = reinterpret_cast<GetStringFn>(libc::g_real.dlsym(handle, "glGetString"));
      if (get_string != nullptr) break;
    }
  }
  if (get_string == nullptr) return;
  char* text = process->header->driver;
  constexpr std::size_t kCapacity = sizeof process->header->driver;
  for (const unsigned what : {kRenderer, kVersion}) {
    const char* answer = get_string(what);
    if (answer == nullptr) continue;
    if (text[0] != '\0') append(text, kCapacity, ", ");
    append(text, kCapacity, answer);
  }
}

}  // namespace hitch::present
