#!/usr/bin/env python3
"""Reads filters as docs/format.md describes them, and shares no code with the library.

usage: read_filter.py FILE [KEY...]        asks the filter for each key
       read_filter.py [--hex] FILE -       ... for each line of stdin, as it is or in hexadecimal
       read_filter.py --check FILE...      says of each file whether it is a whole filter

Needs Python 3 and the module xxhash (Debian: python3-xxhash; elsewhere: python3 -m pip install xxhash). Ends
with 1 if a file is refused.
"""

import errno
import os
import stat
import struct
import sys

import siphash
import xxhash

# docs/layout.md, "Definition"
PARTITIONS = {
    3: [167, 173, 172],
    4: [109, 127, 137, 139],
    5: [97, 101, 103, 109, 102],
    6: [61, 79, 83, 89, 97, 103],
    7: [61, 67, 71, 79, 83, 89, 62],
    8: [37, 47, 53, 61, 67, 71, 79, 97],
    9: [41, 43, 47, 53, 59, 67, 71, 73, 58],
    10: [31, 37, 41, 43, 47, 53, 59, 61, 67, 73],
    11: [29, 31, 37, 41, 43, 44, 47, 53, 59, 61, 67],
    12: [17, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 71],
    13: [17, 19, 23, 29, 31, 37, 41, 43, 47, 52, 53, 59, 61],
    14: [11, 13, 17, 19, 23, 29, 31, 37, 41, 47, 53, 59, 61, 71],
    15: [11, 13, 17, 19, 23, 28, 29, 31, 37, 41, 43, 47, 53, 59, 61],
    16: [5, 7, 11, 13, 17, 19, 23, 27, 29, 31, 37, 41, 43, 47, 53, 109],
    17: [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 32, 37, 41, 43, 47, 53, 101],
}
BLOCK = 64

# docs/format.md, "Native"
MAGIC = b"\x89GLM\r\n\x1a\n"
END_MAGIC = b"GLOOMEND"
HEADER = struct.Struct("<8sIIIIQQQdQ60sI")
STATE = struct.Struct("<QI4s16s12sIQ8s")
TRAILER = struct.Struct("<8sII")
SEALED_STATE = 48
PAYLOAD = 65536
DIRTY = 1
HASHES = {1: "xxh3", 2: "siphash"}

# docs/format.md, "Format v1"
V1_HEADER = struct.Struct("<BIQQ")


class Corrupt(Exception):
    """Damaged, or no filter."""


class Unsupported(Exception):
    """Of a version that this program does not know."""


def require(condition, why, kind=Corrupt):
    if not condition:
        raise kind(why)


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


CRC_TABLE = list(crc_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def boot_id():
    """This boot of the system; zeros if it cannot be told."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return bytes.fromhex(file.read().strip().replace("-", ""))
    except OSError:
        return bytes(16)


class Filter:
    """A filter in memory: what its header says, and `blocks`."""

    def __init__(self, data):
        require(len(data) >= 1, "it is empty")
        if data[0] == 1:
            self.read_v1(data)
        elif data[0] == MAGIC[0]:
            self.read_native(data)
        else:
            raise Unsupported(f"the first byte is {data[0]}")

    def check_geometry(self):
        require(3 <= self.k <= 17, f"k is {self.k}")
        require(self.num_blocks >= 1, "it has no blocks")

    def read_v1(self, data):
        self.format, self.hash_name, self.seed, self.dirty = "v1", "xxh3", 0, False
        require(len(data) >= V1_HEADER.size, "it ends in the header")
        _, self.k, self.num_blocks, self.count = V1_HEADER.unpack_from(data)
        self.check_geometry()
        end = V1_HEADER.size + BLOCK * self.num_blocks
        require(len(data) != end, "it has no checksum: cut by four bytes, or of an old release")
        require(len(data) == end + 4, f"its length is {len(data)} and not {end + 4}")
        self.blocks = data[V1_HEADER.size : end]
        require(crc32c(data[:end]) == int.from_bytes(data[end:], "little"), "its checksum is wrong")

    def read_native(self, data):
        self.format = "native"
        require(len(data) >= HEADER.size, "it ends in the header")
        header = HEADER.unpack_from(data)
        magic, version, layout, hash_id, self.k, self.num_blocks, self.seed = header[:7]
        _expected_items, fp_rate, payload, reserved, checksum = header[7:]
        require(magic == MAGIC, "its magic number is wrong")
        require(version == 1, f"its version is {version}", Unsupported)
        require(layout == 1, f"its layout is {layout}", Unsupported)
        require(hash_id in HASHES, f"its hash is {hash_id}", Unsupported)
        require(crc32c(data[: HEADER.size - 4]) == checksum, "the checksum of its header is wrong")
        self.check_geometry()
        self.hash_name = HASHES[hash_id]
        require(self.hash_name != "siphash" or self.seed != 0, "its SipHash has no key")
        require(payload == PAYLOAD, f"its blocks are at {payload}")
        require(not any(reserved), "reserved bytes of its header are used")
        require(0 <= fp_rate < 1, f"its rate is {fp_rate}")
        end = PAYLOAD + BLOCK * self.num_blocks
        require(len(data) == end + TRAILER.size, f"its length is {len(data)} and not {end + TRAILER.size}")

        state = data[HEADER.size : HEADER.size + STATE.size]
        clean_count, flags, reserved, boot, more_reserved, checksum, live_count, rest = STATE.unpack(state)
        require(crc32c(state[: SEALED_STATE - 4]) == checksum, "the checksum of its state is wrong")
        require(flags & ~DIRTY == 0, f"the flags of its state are {flags}", Unsupported)
        self.dirty = flags & DIRTY != 0
        require(not any(reserved + more_reserved + rest), "reserved bytes of its state are used")
        require(self.dirty or live_count == 0, "it is clean and has a live count")
        self.count = (clean_count + live_count) % 2**64
        whole = not self.dirty or (any(boot) and boot == boot_id())
        require(whole, "it was open for writing when the system failed, and may have lost adds")

        padding, self.blocks = data[HEADER.size + STATE.size : PAYLOAD], data[PAYLOAD:end]
        require(not any(padding), "its padding is not zero")
        magic, blocks_checksum, checksum = TRAILER.unpack(data[end:])
        require(magic == END_MAGIC, "its trailer is none")
        require(crc32c(data[end:-4]) == checksum, "the checksum of its trailer is wrong")
        if not self.dirty:  # then it is an old one
            require(crc32c(padding + self.blocks) == blocks_checksum, "the checksum of its blocks is wrong")

    def holds(self, key):
        """False: certainly not. True: probably."""
        if self.hash_name == "siphash":
            low, high = siphash.key_hash(key, self.seed)
        else:
            digest = xxhash.xxh3_128_intdigest(key, self.seed)
            high, low = digest >> 64, digest & 0xFFFFFFFFFFFFFFFF
        block = high * self.num_blocks >> 64
        probe = (low ^ low >> 32) & 0xFFFFFFFF
        offset = 0
        for size in PARTITIONS[self.k]:
            bit = offset + probe % size
            # Bit b % 64 of little-endian word b / 64 is bit b % 8 of byte b / 8.
            if not self.blocks[block * BLOCK + bit // 8] >> bit % 8 & 1:
                return False
            offset += size
        return True


def require_regular(path, status):
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ENODEV, "it is no regular file", path)


def load(path):
    # Whoever may write to the folder can put a FIFO there to which nobody writes, or a link to a device. So it is looked
    # at before it is opened, which waits for nobody, and again in case it has become another.
    require_regular(path, os.stat(path))
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
        require_regular(path, os.fstat(file.fileno()))
        return Filter(file.read())


def verdict(error):
    word = "io" if isinstance(error, OSError) else type(error).__name__.lower()
    return f"{word}: {error}"


def check(paths):
    all_good = True
    for path in paths:
        try:
            load(path)
            print("ok")
        except (Corrupt, Unsupported, OSError) as error:
            print(verdict(error))
            all_good = False
    return all_good


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "--check":
        return check(arguments[1:])
    in_hex = arguments[:1] == ["--hex"]
    if in_hex:
        arguments = arguments[1:]
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return False
    path, keys = arguments[0], [key.encode("utf-8", "surrogateescape") for key in arguments[1:]]
    if keys == [b"-"]:
        keys = sys.stdin.buffer.read().removesuffix(b"\n").split(b"\n")
    try:
        loaded = load(path)
    except (Corrupt, Unsupported, OSError) as error:
        print(f"{path}: {verdict(error)}", file=sys.stderr)
        return False
    facts = ["format", "k", "num_blocks", "hash_name", "seed", "count", "dirty"]
    print(*(f"{fact}={getattr(loaded, fact)}" for fact in facts))
    for key in keys:
        print("maybe" if loaded.holds(bytes.fromhex(key.decode("ascii")) if in_hex else key) else "no")
    return True


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
