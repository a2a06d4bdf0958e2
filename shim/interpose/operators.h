// Binds our operator new and delete to the game's. Each entry in tail_jump.S notes its caller and
// jumps to the next definition; new_handler, bad_alloc and a replacement of the game's own then
// behave as without us.
#pragma once

namespace hitch::interpose {

// Finds the next definitions, so that their first call need not. Those of an allocator that do not
// come back through our malloc (tcmalloc, mimalloc) are wrapped and timed like malloc; which do is
// tried out with a few bytes that are not counted. Call it from the library's constructor, while
// recording.
void bind_operators();

}  // namespace hitch::interpose
