# Machine mode. The floating point unit is off (mstatus.FS is 0 after reset); every exception goes to `exception`.
.section .boot, "ax"
.global _start
_start:
    la sp, stack_top
    la t0, trap
    csrw mtvec, t0
    call kernel
1:  wfi
    j 1b
.balign 4
trap:
    j exception
# Other assembly of the program follows in the section that this leaves.
.text
