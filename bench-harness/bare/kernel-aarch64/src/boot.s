// EL1, MMU off. FPEN says whether vector registers may be used; every exception goes to `exception`.
.section .boot, "ax"
.global _start
_start:
    mov x0, #FPEN
    msr cpacr_el1, x0
    adrp x0, vectors
    add x0, x0, :lo12:vectors
    msr vbar_el1, x0
    mrs x0, sctlr_el1
    orr x0, x0, #2                      // A: every unaligned access faults
    msr sctlr_el1, x0
    isb
    ldr x0, =stack_top
    mov sp, x0
    bl kernel
1:  wfe
    b 1b
.balign 2048
vectors:
.rept 16
    .balign 128
    b exception
.endr
// Other assembly of the program follows in the section that this leaves.
.text
