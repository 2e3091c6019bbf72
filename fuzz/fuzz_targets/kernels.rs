#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| gloom_fuzz::kernels::run(input));
