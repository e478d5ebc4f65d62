// What LD_PRELOAD puts in place of MPI's functions: for each MPI_X and PMPI_X a jump through a slot, and nothing else, so
// that arguments, whatever they are, and the return address stay as they are.
//
// A slot first leads to the resolver (front.cpp), which finds out at the first call where calls go from then on. Slots
// are numbered: 2 i for MPI_X and 2 i + 1 for PMPI_X, where X is line i of functions.inc; the last is that of dlsym. All
// trampolines are of one size, and hold behind the jump what the loader calls where a name is an indirect function
// (names.cpp knows both numbers).

#if defined(__x86_64__)

#define SLOT .quad
#define STRIDE 32
#define BINDER_BEHIND 16
  .macro jump_through slot
    endbr64
    jmp *\slot(%rip)
  .endm
  .macro bind number
    endbr64
    movl $\number, %edi
    jmp lull_mpi_bind
  .endm
  .macro resolve number
    pushq $\number
    jmp .Lresolve
  .endm

  .text
  .type .Lresolve, %function
.Lresolve:  // [rsp]: number, [rsp + 8]: return address of the caller
  .cfi_startproc
  .cfi_def_cfa_offset 16
  pushq %rbp
  .cfi_def_cfa_offset 24
  .cfi_offset rbp, -24
  movq %rsp, %rbp
  .cfi_def_cfa_register rbp
  andq $-16, %rsp
  subq $192, %rsp
  movq %rax, 0(%rsp)
  movq %rdi, 8(%rsp)
  movq %rsi, 16(%rsp)
  movq %rdx, 24(%rsp)
  movq %rcx, 32(%rsp)
  movq %r8, 40(%rsp)
  movq %r9, 48(%rsp)
  movq %r10, 56(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  movl 8(%rbp), %edi
  call lull_mpi_resolve
  movq %rax, %r11
  movq 0(%rsp), %rax
  movq 8(%rsp), %rdi
  movq 16(%rsp), %rsi
  movq 24(%rsp), %rdx
  movq 32(%rsp), %rcx
  movq 40(%rsp), %r8
  movq 48(%rsp), %r9
  movq 56(%rsp), %r10
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  leave
  .cfi_def_cfa rsp, 16
  addq $8, %rsp
  .cfi_def_cfa_offset 8
  jmp *%r11
  .cfi_endproc

#elif defined(__aarch64__)

#define SLOT .xword
#define STRIDE 64
#define BINDER_BEHIND 32
  .macro jump_through slot
    hint #34  // bti c
    adrp x16, \slot
    add x16, x16, #:lo12:\slot
    ldar x16, [x16]  // what the function needs was stored before the slot was
    br x16
  .endm
  .macro bind number
    hint #34
    mov w0, #\number
    b lull_mpi_bind
  .endm
  .macro resolve number
    hint #36  // bti j
    mov w17, #\number
    b .Lresolve
  .endm

  .text
  .type .Lresolve, %function
.Lresolve:  // w17: number, x30: return address of the caller
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset 29, -224
  .cfi_offset 30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  bl lull_mpi_resolve
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  .cfi_restore 29
  .cfi_restore 30
  br x16
  .cfi_endproc

#else
#error "the front of src/mpi is written for x86-64 and AArch64"
#endif

  .hidden lull_mpi_resolve
  .hidden lull_mpi_bind
  .hidden lull_mpi_dlsym
  .hidden lull_mpi_slots
  .globl lull_mpi_slots
  .data
  .balign 8
lull_mpi_slots:

  .set number, 0
  .macro slot_of name
    .section .text.lull_mpi_first, "ax", %progbits
.Lresolve_\name:
    resolve number
    .data
.Lslot_\name:
    SLOT .Lresolve_\name
    .set number, number + 1
  .endm

  // A name of MPI: with a hidden version (names.hpp).
  .macro trampoline name
    .text
    .balign STRIDE
    .globl \name
    .type \name, %function
    .symver \name, \name@LULL_MPI
\name:
    jump_through .Lslot_\name
    .size \name, . - \name
    .balign BINDER_BEHIND
    bind number
    slot_of \name
  .endm
  .macro function name
    trampoline \name
    trampoline P\name
  .endm

  .hidden lull_mpi_trampolines
  .globl lull_mpi_trampolines
  .hidden lull_mpi_trampolines_end
  .globl lull_mpi_trampolines_end
  .text
  .balign STRIDE
lull_mpi_trampolines:
#define LULL_MPI_FUNCTION(name) function name
#include "functions.inc"
  .text
  .balign STRIDE
lull_mpi_trampolines_end:

  // void* dlsym(void* handle, const char* name): MPI_... and PMPI_... are asked for in the front, which answers null where
  // the C library is to answer. That is jumped to, for it looks at the return address.
  .text
  .balign STRIDE
  .globl dlsym
  .type dlsym, %function
dlsym:
#if defined(__x86_64__)
  endbr64
  testq %rsi, %rsi
  je 2f
  movq %rsi, %rax
  cmpb $'P', (%rax)
  jne 1f
  incq %rax
1:cmpb $'M', (%rax)
  jne 2f
  cmpb $'P', 1(%rax)
  jne 2f
  cmpb $'I', 2(%rax)
  jne 2f
  cmpb $'_', 3(%rax)
  jne 2f
  .cfi_startproc
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rdx
  call lull_mpi_dlsym
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  je 2f
  ret
  .cfi_endproc
2:jmp *.Lslot_dlsym(%rip)
#else
  hint #34
  cbz x1, 2f
  mov x9, x1
  ldrb w10, [x9]
  cmp w10, #'P'
  cinc x9, x9, eq
  ldrb w10, [x9]
  cmp w10, #'M'
  b.ne 2f
  ldrb w10, [x9, #1]
  cmp w10, #'P'
  b.ne 2f
  ldrb w10, [x9, #2]
  cmp w10, #'I'
  b.ne 2f
  ldrb w10, [x9, #3]
  cmp w10, #'_'
  b.ne 2f
  .cfi_startproc
  stp x29, x30, [sp, #-32]!
  .cfi_def_cfa_offset 32
  .cfi_offset 29, -32
  .cfi_offset 30, -24
  mov x29, sp
  stp x0, x1, [sp, #16]
  mov x2, x30
  bl lull_mpi_dlsym
  mov x9, x0
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_def_cfa_offset 0
  .cfi_restore 29
  .cfi_restore 30
  cbz x9, 2f
  mov x0, x9
  ret
  .cfi_endproc
2:adrp x16, .Lslot_dlsym
  add x16, x16, #:lo12:.Lslot_dlsym
  ldar x16, [x16]
  br x16
#endif
  .size dlsym, . - dlsym
  slot_of dlsym

  .section .note.GNU-stack, "", %progbits
