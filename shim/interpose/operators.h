// Binds our operator new and delete to the game's. Each entry in tail_jump.S notes its caller and
// jumps to the next definition; new_handler, bad_alloc and a replacement of the game's own then
// behave as without us.
#pragma once

namespace hitch::interpose {

// Finds the next definitions and checks that each reaches our malloc and free. Those that do not
// (jemalloc and tcmalloc bring operators of their own) are wrapped instead: timed like malloc.
// Allocates and frees a few bytes that are not counted; call it from the library's constructor,
// while recording.
void bind_operators();

}  // namespace hitch::interpose
