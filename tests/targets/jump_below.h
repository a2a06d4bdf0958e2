// What siglongjmp_out.c and jump_below.c agree on.
#pragma once

enum { kJumpErrno = 7777 };
