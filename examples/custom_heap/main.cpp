// How an engine with allocators of its own makes them count.
//
//   hitchtrace run -- ./custom_heap
//
// 120 frames. Each frame takes 200 blocks of 96 bytes from the arena "frame arena" and resets it,
// and creates and destroys 50 bullets in the pool "bullets". The pool's slots are one block of the
// arena "level arena", whose memory is one `operator new`: the report shows three heaps, and no
// byte twice. Without the shim in the process it does exactly the same.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "arena.h"
#include "pool.h"

namespace {

struct Bullet {
  float x = 0, y = 0, speed = 0;
  int owner = 0;
};

constexpr int kFrames = 120;
constexpr int kBlocksPerFrame = 200;
constexpr int kBulletsPerFrame = 50;

}  // namespace

int main() {
  custom_heap::Arena level("level arena", 256 * 1024);
  custom_heap::Arena frame_memory("frame arena", 64 * 1024);
  custom_heap::Pool<Bullet> bullets("bullets", 128, level);

  std::size_t peak = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    Bullet* fired[kBulletsPerFrame];
    for (Bullet*& bullet : fired) bullet = bullets.create();
    for (int i = 0; i < kBlocksPerFrame; ++i) {
      if (frame_memory.allocate(96) == nullptr) return 1;
    }
    peak = std::max(peak, frame_memory.used());
    for (Bullet* bullet : fired) bullets.destroy(bullet);
    frame_memory.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    hitch_frame_mark();
  }
  std::printf("%d frames, %zu bytes of the frame arena at most\n", kFrames, peak);
}
