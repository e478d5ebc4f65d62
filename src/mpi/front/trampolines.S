// What LD_PRELOAD puts in place of MPI's functions: for each MPI_X and PMPI_X a jump through a slot, and nothing else, so
// that arguments, whatever they are, and the return address stay as they are.
//
// A slot first leads to the resolver (front.cpp), which finds out at the first call where calls go from then on. Slots
// are numbered: 2 i for MPI_X and 2 i + 1 for PMPI_X, where X is line i of functions.inc; behind these the functions
// that are not MPI's.

#if defined(__x86_64__)

#define SLOT .quad
  .macro jump_through slot
    endbr64
    jmp *\slot(%rip)
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
  .macro jump_through slot
    hint #34  // bti c
    adrp x16, \slot
    ldr x16, [x16, #:lo12:\slot]
    br x16
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
  .hidden lull_mpi_slots
  .globl lull_mpi_slots
  .data
  .balign 8
lull_mpi_slots:

  .set number, 0
  .macro trampoline name
    .text
    .balign 16
    .globl \name
    .type \name, %function
\name:
    jump_through .Lslot_\name
    .size \name, . - \name
.Lresolve_\name:
    resolve number
    .data
.Lslot_\name:
    SLOT .Lresolve_\name
    .set number, number + 1
  .endm
  .macro function name
    trampoline \name
    trampoline P\name
  .endm

#define LULL_MPI_FUNCTION(name) function name
#include "functions.inc"
  trampoline opal_progress
  trampoline sched_yield
  trampoline poll

  .section .note.GNU-stack, "", %progbits
