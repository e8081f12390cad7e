// PVH entry, which QEMU's -kernel takes from a plain ELF: from 32-bit protected mode to long mode with the first GiB
// identity-mapped. SSE stays as VECTORS says: off, so that one vector instruction would end the machine, or on.
// Registers wider than that stay off in either case: XCR0 is written later, by the kernel.
.section .note.pvh, "a"
.align 4
.long 4, 4, 18
.asciz "Xen"
.long _start

.section .boot, "ax"
.code32
.global _start
_start:
    mov $stack_top, %esp
    mov $pml4, %edi
    mov $pdpt, %eax
    or $3, %eax
    mov %eax, (%edi)
    mov $pdpt, %edi
    movl $0x83, (%edi)
    mov $pml4, %eax
    mov %eax, %cr3
    mov %cr4, %eax
    or $0x20, %eax                      // PAE
.if VECTORS
    or $0x600, %eax                     // OSFXSR, OSXMMEXCPT
.endif
    mov %eax, %cr4
    mov $0xc0000080, %ecx               // EFER.LME
    rdmsr
    or $0x100, %eax
    wrmsr
    mov %cr0, %eax
.if VECTORS
    and $0xfffffffb, %eax               // not EM
.else
    or $0x4, %eax                       // EM: x87 and SSE trap
.endif
    or $0x80000003, %eax                // PG, MP, PE
    mov %eax, %cr0
    lgdt gdtr
    ljmp $8, $long
.code64
long:
    mov $16, %ax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    call kernel
1:  hlt
    jmp 1b
.align 8
gdt: .quad 0, 0x00af9a000000ffff, 0x00cf92000000ffff
gdtr: .word . - gdt - 1
.long gdt
.section .bss
.align 4096
pml4: .skip 4096
pdpt: .skip 4096
stack: .skip 65536
stack_top:
// Other assembly of the program follows in the section that this leaves.
.text
