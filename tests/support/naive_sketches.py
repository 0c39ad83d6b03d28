"""Sketches of Apache DataSketches one value at a time, as their layouts say: what the kernels are compared with.

A coupon is `(slot, height)`. `hll` and `theta` write the layouts that unions have; the others are those of other
writers.
"""

from __future__ import annotations

import struct

WHOLE = 2**63 - 1
HLL_4, HLL_6, HLL_8 = 0, 1, 2


def hll(coupons, lg_k=12):
    """The sketch of some coupons."""
    numbers = sorted({height << 26 | slot for slot, height in coupons})
    if len(numbers) < 8:
        empty = 0 if numbers else 4
        return struct.pack("<8B8I", 2, 1, 7, lg_k, 3, empty, len(numbers), 8, *numbers, *[0] * (8 - len(numbers)))
    if lg_k >= 8 and len(numbers) <= 3 << (lg_k - 5):
        lg = 5
        while 4 * len(numbers) > 3 << lg:
            lg += 1
        return struct.pack(f"<8BI{len(numbers)}I", 3, 1, 7, lg_k, lg, 8, 0, 9, len(numbers), *numbers)
    return hll_of_registers(registers_of(coupons, lg_k))


def registers_of(coupons, lg_k):
    found = [0] * (1 << lg_k)
    for slot, height in coupons:
        at = slot % len(found)
        found[at] = max(found[at], height)
    return found


def hll_of_registers(registers, kind=HLL_8):
    """A sketch that lists its registers, of 8, 6 or 4 bits each."""
    lg_k = len(registers).bit_length() - 1
    least, aux = 0, []
    if kind == HLL_8:
        data = bytes(registers)
    elif kind == HLL_6:
        bits = sum(height << 6 * slot for slot, height in enumerate(registers))
        data = bits.to_bytes(len(registers) * 3 // 4 + 1, "little")
    else:
        least = min(registers)
        halves = [min(height - least, 15) for height in registers]
        data = bytes(low | high << 4 for low, high in zip(halves[::2], halves[1::2], strict=True))
        aux = [height << 26 | slot for slot, height in enumerate(registers) if height - least >= 15]
        data += struct.pack(f"<{len(aux)}I", *aux)
    low = sum(2.0**-height for height in registers if height < 32)
    high = sum(2.0**-height for height in registers if height >= 32)
    head = struct.pack("<8B3d", 10, 1, 7, lg_k, 0, 16, least, kind << 2 | 2, 0.0, low, high)
    return head + struct.pack("<2I", registers.count(least), len(aux)) + data


def hll_union(one, other):
    """The union of two sketches as `hll` writes them."""
    lg_k = min(one[3], other[3])
    if (one[7] & 3) == 2 or (other[7] & 3) == 2:
        found = [0] * (1 << lg_k)
        for sketch in (one, other):
            given = sketch[40:] if (sketch[7] & 3) == 2 else registers_of(coupons_of(sketch), lg_k)
            for slot, height in enumerate(given):
                found[slot % len(found)] = max(found[slot % len(found)], height)
        return hll_of_registers(found)
    return hll(coupons_of(one) | coupons_of(other), lg_k)


def coupons_of(sketch):
    begin = 8 if (sketch[7] & 3) == 0 else 12
    numbers = struct.unpack(f"<{(len(sketch) - begin) // 4}I", sketch[begin:])
    return {(number & (1 << 26) - 1, number >> 26) for number in numbers if number}


def theta(hashes, limit=WHOLE, seed=37836):
    """The sketch of the hashes below a limit, sorted."""
    hashes = sorted({one for one in hashes if one < limit})
    if limit == WHOLE and len(hashes) < 2:
        if not hashes:
            return struct.pack("<6BH", 1, 3, 3, 0, 0, 30, 0)
        return struct.pack("<6BHq", 1, 3, 3, 0, 0, 58, seed, *hashes)
    longs = 2 if limit == WHOLE else 3
    head = struct.pack("<6BHIf", longs, 3, 3, 0, 0, 26, seed, len(hashes), 1.0)
    return head + (b"" if limit == WHOLE else struct.pack("<q", limit)) + struct.pack(f"<{len(hashes)}q", *hashes)


def packed_theta(hashes, limit=WHOLE, seed=37836):
    """The same as differences in as few bits as they need."""
    hashes = sorted({one for one in hashes if one < limit})
    gaps = [b - a for a, b in zip([0, *hashes], hashes, strict=False)]
    bits = max(gap.bit_length() for gap in gaps)
    text = "".join(f"{gap:0{bits}b}" for gap in gaps)
    data = bytes(int(text[i : i + 8].ljust(8, "0"), 2) for i in range(0, len(text), 8))
    wide = (len(hashes).bit_length() + 7) // 8
    head = struct.pack("<6BH", 1 if limit == WHOLE else 2, 4, 3, bits, wide, 26, seed)
    head += b"" if limit == WHOLE else struct.pack("<q", limit)
    return head + len(hashes).to_bytes(wide, "little") + data


def table_theta(hashes, limit=WHOLE, seed=37836):
    """A sketch that is still updated: a hash table, in which zeros are free and greater hashes are left over."""
    slots = [0, *hashes, 0, 0]
    head = struct.pack("<6BHIfq", 3, 3, 2, 12, 4, 0, seed, len(hashes), 1.0, limit)
    return head + struct.pack(f"<{len(slots)}q", *slots)


def hashes_of(sketch):
    """Hashes and limit of a sketch as `theta` writes it."""
    if len(sketch) <= 16:
        return {*struct.unpack(f"<{(len(sketch) - 8) // 8}q", sketch[8:])}, WHOLE
    limit = struct.unpack("<q", sketch[16:24])[0] if sketch[0] == 3 else WHOLE
    begin = 8 * sketch[0]
    return {*struct.unpack(f"<{(len(sketch) - begin) // 8}q", sketch[begin:])}, limit


def theta_union(one, other, nominal=4096):
    """The union of two sketches as `theta` writes them."""
    (mine, limit), (theirs, other_limit) = hashes_of(one), hashes_of(other)
    limit = min(limit, other_limit)
    hashes = sorted(h for h in mine | theirs if h < limit)
    if len(hashes) > nominal:
        limit = hashes[nominal]
    return theta(hashes, limit)
