//! Registers of bytes, as the element-wise filters see them: what the CPUs have in common.

/// Registers of `N` bytes and what can be done with them: whoever holds such a value may do it.
pub(super) trait Registers<const N: usize>: Copy {
    type Register: Copy;

    fn load(self, bytes: [u8; N]) -> Self::Register;
    fn store(self, register: Self::Register) -> [u8; N];
    fn xor(self, a: Self::Register, b: Self::Register) -> Self::Register;
    fn and(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// Byte by byte modulo 256, like `sub`.
    fn add(self, a: Self::Register, b: Self::Register) -> Self::Register;
    fn sub(self, a: Self::Register, b: Self::Register) -> Self::Register;
}

/// [`Registers`] by a CPU's instructions, which are methods of a field of `$token`.
#[allow(unused_macros)] // Builds without registers do not ask.
macro_rules! registers {
    ($register:ty: [u8; $n:literal], $token:ident.$field:ident { $xor:ident $and:ident $add:ident $sub:ident }) => {
        impl Registers<$n> for $token {
            type Register = $register;

            #[inline(always)]
            fn load(self, bytes: [u8; $n]) -> $register {
                pulp::cast(bytes)
            }
            #[inline(always)]
            fn store(self, register: $register) -> [u8; $n] {
                pulp::cast(register)
            }
            registers! { $register, $field: xor $xor, and $and, add $add, sub $sub }
        }
    };
    ($register:ty, $field:ident: $($operation:ident $instruction:ident),*) => {$(
        #[inline(always)]
        fn $operation(self, a: $register, b: $register) -> $register {
            self.$field.$instruction(a, b)
        }
    )*};
}
#[allow(unused_imports)]
pub(super) use registers;

/// Registers of lanes of 16 bytes.
pub(super) trait Lanes<const N: usize>: Registers<N> {
    /// The bytes of each lane moved up by `BY` (1, 2, 4 or 8) places, zeros below.
    fn up<const BY: usize>(self, x: Self::Register) -> Self::Register;
    /// Turns the running results of each lane into those of the register. The second register has the last word of `W` (1, 2
    /// or 4) bytes in every place.
    fn join<const W: usize, const OP: char>(self, x: Self::Register) -> (Self::Register, Self::Register);
}

/// What is to be done, for registers of any CPU. Both must be `inline(always)`.
pub(super) trait Work {
    type Output;

    #[cfg_attr(
        not(any(
            all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
            all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
            all(target_arch = "wasm32", target_feature = "simd128")
        )),
        allow(dead_code)
    )]
    fn run<const N: usize, L: Lanes<N>>(self, with: L) -> Self::Output;
    /// Does the same without registers.
    fn plain(self) -> Self::Output;
}

/// `a OP b`, byte by byte.
#[inline(always)]
pub(super) fn combine<const OP: char, const N: usize, R: Registers<N>>(
    with: R,
    a: R::Register,
    b: R::Register,
) -> R::Register {
    const { assert!(matches!(OP, '^' | '+' | '-')) };
    match OP {
        '^' => with.xor(a, b),
        '+' => with.add(a, b),
        _ => with.sub(a, b),
    }
}

/// Plain Rust: arrays for registers, of any size.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Plain {
    #[inline(always)]
    fn each<const N: usize>(mut a: [u8; N], b: [u8; N], op: impl Fn(u8, u8) -> u8) -> [u8; N] {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = op(*a, b));
        a
    }
}

impl<const N: usize> Registers<N> for Plain {
    type Register = [u8; N];

    #[inline(always)]
    fn load(self, bytes: [u8; N]) -> [u8; N] {
        bytes
    }
    #[inline(always)]
    fn store(self, register: [u8; N]) -> [u8; N] {
        register
    }
    #[inline(always)]
    fn xor(self, a: [u8; N], b: [u8; N]) -> [u8; N] {
        Plain::each(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn and(self, a: [u8; N], b: [u8; N]) -> [u8; N] {
        Plain::each(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn add(self, a: [u8; N], b: [u8; N]) -> [u8; N] {
        Plain::each(a, b, u8::wrapping_add)
    }
    #[inline(always)]
    fn sub(self, a: [u8; N], b: [u8; N]) -> [u8; N] {
        Plain::each(a, b, u8::wrapping_sub)
    }
}

/// Like [`slice::split_at`], but clamped to the length.
#[inline(always)]
pub(super) fn split(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    bytes.split_at_checked(at).unwrap_or((bytes, &[]))
}
