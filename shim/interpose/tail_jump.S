/* Entries that must leave no trace on the stack: they note something and jump, so that the next definition
 * sees the game's own return address. glibc finds the caller of dlsym, dlvsym and dlopen by it; operator new
 * may throw, call the new_handler, or be the game's own.
 *
 * Free registers: rax, r10, r11 (no argument lives in them). Offsets into ThreadState and the numbers of the
 * operators are pinned in thread_state.h and operators.def.
 */
#if defined(__CET__)
#include <cet.h>  /* marks the object as safe for indirect branch tracking */
#endif
#define LANDING endbr64

#define NOTE_CALLER 64
#define NOTE_SP 72
#define NOTE_OP 80

        .text

/* ENTRY name: an exported function. */
.macro ENTRY name
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        LANDING
.endm
.macro LEAVE name
        .cfi_endproc
        .size   \name, .-\name
.endm

/* OPERATOR name, number, op */
.macro OPERATOR name, number, op
ENTRY \name
        movq    hitch_thread_state@gottpoff(%rip), %rax
        movq    %fs:(%rax), %rax
        testq   %rax, %rax
        jz      3f
1:      movq    (%rsp), %r10
        movq    %r10, %r11
        subq    hitch_plumbing_start(%rip), %r11
        cmpq    hitch_plumbing_bytes(%rip), %r11
        jae     5f
        movq    NOTE_SP(%rax), %r11     /* a call from inside the C++ library: when an operator is running, */
        subq    %rsp, %r11              /* which is noted until malloc or free has taken the note, and it is */
        cmpq    $512, %r11              /* near, then this is one operator calling another */
        jb      2f
5:
        movq    %r10, NOTE_CALLER(%rax)
        movq    %rsp, NOTE_SP(%rax)
        movq    $\op, NOTE_OP(%rax)
2:      movq    hitch_next_operator+8*\number(%rip), %rax
        testq   %rax, %rax
        jz      4f
        jmp     *%rax
3:      call    hitch_attach_keeping_arguments
        testq   %rax, %rax
        jnz     1b
        jmp     2b
4:      movl    $\number, %eax
        jmp     hitch_find_operator_and_jump
LEAVE \name
.endm

/* Saves the argument registers around a call: 32 bytes, so that alignment stays what it was. A function
 * entered by `call` is 8 off a multiple of 16 and must push one more word before it calls C. */
.macro SAVE_ARGUMENTS
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
.endm
.macro RESTORE_ARGUMENTS
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
.endm

/* Returns the thread's state in rax, or 0; every argument register survives. */
        .type   hitch_attach_keeping_arguments, @function
        .p2align 4
hitch_attach_keeping_arguments:
        .cfi_startproc
        LANDING
        SAVE_ARGUMENTS
        call    hitch_attach_for_operator
        RESTORE_ARGUMENTS
        ret
        .cfi_endproc
        .size   hitch_attach_keeping_arguments, .-hitch_attach_keeping_arguments

/* eax = number of the operator; finds its next definition by the caller and jumps there. */
        .type   hitch_find_operator_and_jump, @function
        .p2align 4
hitch_find_operator_and_jump:
        .cfi_startproc
        LANDING
        movq    (%rsp), %r10
        SAVE_ARGUMENTS
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        movl    %eax, %edi
        movq    %r10, %rsi
        call    hitch_find_operator
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        RESTORE_ARGUMENTS
        jmp     *%rax
        .cfi_endproc
        .size   hitch_find_operator_and_jump, .-hitch_find_operator_and_jump

/* Op values of buffer_records.h; tail_jump_check in hook_new.cpp compares them. */
#define OP_NEW 4
#define OP_NEW_ARRAY 5
#define OP_NEW_ALIGNED 6
#define OP_DELETE 8
#define OP_DELETE_ARRAY 9

OPERATOR _Znwm, 0, OP_NEW
OPERATOR _ZnwmRKSt9nothrow_t, 1, OP_NEW
OPERATOR _ZnwmSt11align_val_t, 2, OP_NEW_ALIGNED
OPERATOR _ZnwmSt11align_val_tRKSt9nothrow_t, 3, OP_NEW_ALIGNED
OPERATOR _Znam, 4, OP_NEW_ARRAY
OPERATOR _ZnamRKSt9nothrow_t, 5, OP_NEW_ARRAY
OPERATOR _ZnamSt11align_val_t, 6, OP_NEW_ALIGNED
OPERATOR _ZnamSt11align_val_tRKSt9nothrow_t, 7, OP_NEW_ALIGNED
OPERATOR _ZdlPv, 8, OP_DELETE
OPERATOR _ZdlPvm, 9, OP_DELETE
OPERATOR _ZdlPvSt11align_val_t, 10, OP_DELETE
OPERATOR _ZdlPvmSt11align_val_t, 11, OP_DELETE
OPERATOR _ZdlPvRKSt9nothrow_t, 12, OP_DELETE
OPERATOR _ZdlPvSt11align_val_tRKSt9nothrow_t, 13, OP_DELETE
OPERATOR _ZdaPv, 14, OP_DELETE_ARRAY
OPERATOR _ZdaPvm, 15, OP_DELETE_ARRAY
OPERATOR _ZdaPvSt11align_val_t, 16, OP_DELETE_ARRAY
OPERATOR _ZdaPvmSt11align_val_t, 17, OP_DELETE_ARRAY
OPERATOR _ZdaPvRKSt9nothrow_t, 18, OP_DELETE_ARRAY
OPERATOR _ZdaPvSt11align_val_tRKSt9nothrow_t, 19, OP_DELETE_ARRAY

/* LOADER name, slow: fetches the real entry into rax, finding it first when it is not known yet. */
.macro REAL_ENTRY pointer
        movq    \pointer(%rip), %rax
        testq   %rax, %rax
        jnz     9f
        SAVE_ARGUMENTS
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        call    hitch_find_loader_entries
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        RESTORE_ARGUMENTS
        movq    \pointer(%rip), %rax
9:
.endm

/* void* dlsym(void* handle, const char* name)
 * RTLD_NEXT (-1) asks for what comes after the caller: the caller is itself a hook, and ours came before it. */
ENTRY dlsym
        REAL_ENTRY hitch_real_dlsym
        cmpq    $-1, %rdi
        jne     1f
        jmp     *%rax
1:
        SAVE_ARGUMENTS
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        movq    %rsi, %rdi
        call    hitch_is_hooked_name
        movl    %eax, %r10d
        popq    %rax
        .cfi_adjust_cfa_offset -8
        RESTORE_ARGUMENTS
        testl   %r10d, %r10d
        jnz     hitch_hooked_dlsym
        jmp     *%rax
LEAVE dlsym

/* void* dlvsym(void* handle, const char* name, const char* version) */
ENTRY dlvsym
        REAL_ENTRY hitch_real_dlvsym
        cmpq    $-1, %rdi
        jne     1f
        jmp     *%rax
1:
        SAVE_ARGUMENTS
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        movq    %rsi, %rdi
        call    hitch_is_hooked_name
        movl    %eax, %r10d
        popq    %rax
        .cfi_adjust_cfa_offset -8
        RESTORE_ARGUMENTS
        testl   %r10d, %r10d
        jnz     hitch_hooked_dlvsym
        jmp     *%rax
LEAVE dlvsym

/* void* dlopen(const char* name, int flags): RTLD_DEEPBIND (8) would bind the library past us. */
ENTRY dlopen
        REAL_ENTRY hitch_real_dlopen
        testl   $8, %esi
        jz      1f
        cmpb    $0, hitch_keep_deepbind(%rip)
        jne     1f
        incl    hitch_deepbind_stripped(%rip)
        andl    $-9, %esi
1:      jmp     *%rax
LEAVE dlopen

        .section .note.GNU-stack, "", @progbits
