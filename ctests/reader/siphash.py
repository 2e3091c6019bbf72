#!/usr/bin/env python3
"""SipHash with 128 bits in plain integers, after the paper (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012)
and, for the second half of the output, the authors' reference implementation.

usage: siphash.py       writes ctests/golden/siphash_vectors.tsv to stdout

It shares no code with the library, and is checked against the authors' figures for SipHash-2-4 before it writes anything.
"""

import sys

MASK = 2**64 - 1

# The authors' figures (vectors.h of their repository): key 00 01 .. 0f, and n input bytes 00 01 ..
KNOWN_2_4 = [
    "a3817f04ba25a8e66df67214c7550293",
    "da87c1d86b99af44347659119b22fc45",
    "8177228da4a45dc7fca38bdef60affe4",
]


def rotate(word, bits):
    return (word << bits | word >> 64 - bits) & MASK


def rounds(v, count):
    for _ in range(count):
        v[0] = (v[0] + v[1]) & MASK
        v[1] = rotate(v[1], 13) ^ v[0]
        v[0] = rotate(v[0], 32)
        v[2] = (v[2] + v[3]) & MASK
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & MASK
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & MASK
        v[1] = rotate(v[1], 17) ^ v[2]
        v[2] = rotate(v[2], 32)


def siphash128(key, data, per_word=1, at_end=3):
    """The two words of the output. `key` has 16 bytes."""
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    # "somepseudorandomlygeneratedbytes"
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    v[1] ^= 0xEE
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(v, per_word)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(v, at_end)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(v, at_end)
    return first, v[0] ^ v[1] ^ v[2] ^ v[3]


def key_hash(data, seed):
    """(lo, hi) of a key in a filter with this seed: docs/layout.md, "SipHash"."""
    return siphash128(seed.to_bytes(8, "little") + b"gloomsip", data)


def check_known():
    for length, known in enumerate(KNOWN_2_4):
        words = siphash128(bytes(range(16)), bytes(range(length)), 2, 4)
        assert b"".join(word.to_bytes(8, "little") for word in words).hex() == known, length


def main():
    check_known()
    print("# input of length n: byte j = (j*131 + n + 7) mod 256. SipHash-1-3 with 128 bits, of the key")
    print('# that is the seed (8 little-endian bytes) and "gloomsip": ctests/reader/siphash.py.')
    print("seed\tlen\thi\tlo\tprobe\tblock_of_1000")
    for seed in [1, 2**64 - 1, 0x0123456789ABCDEF]:
        for length in [*range(66), *range(120, 137), *range(238, 274), 300, 511, 512, 1023, 4096]:
            data = bytes((j * 131 + length + 7) % 256 for j in range(length))
            lo, hi = key_hash(data, seed)
            print(seed, length, f"{hi:016x}", f"{lo:016x}", (lo ^ lo >> 32) & 0xFFFFFFFF, hi * 1000 >> 64, sep="\t")


if __name__ == "__main__":
    sys.exit(main())
