"""Images and archives of images as bytes, by the standard library alone.

Pixels are bytes, rows from the top, channels interleaved."""

import io
import math
import struct
import tarfile
import zlib


def pnm(pixels, width, height, channels=3):
    return b"P%d\n%d %d\n255\n" % (5 if channels == 1 else 6, width, height) + pixels


def plain_pnm(pixels, width, height, channels=3):
    numbers = b"".join(b"%d\n" % value for value in pixels)
    return b"P%d\n# by hand\n%d %d\n255\n" % (2 if channels == 1 else 3, width, height) + numbers


def pnm16(pixels, width, height, channels=3):
    wide = b"".join(struct.pack(">H", 257 * value) for value in pixels)
    return b"P%d\n%d %d\n65535\n" % (5 if channels == 1 else 6, width, height) + wide


def png(pixels, width, height, channels=3, *, bits=8, palette=None, transparent=None):
    """`channels`: 1, 2 (grey, alpha), 3 or 4; with a palette, pixels are its indices. With 16 bits, each byte is written twice."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    kind = 3 if palette else {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    rows = b""
    for y in range(height):
        row = pixels[y * width * channels : (y + 1) * width * channels]
        if bits == 16:
            row = bytes(value for value in row for _ in range(2))
        elif bits == 1:
            row = bytes(sum((row[x + k] > 127) << (7 - k) for k in range(8) if x + k < width) for x in range(0, width, 8))
        rows += b"\0" + row
    more = chunk(b"PLTE", palette) if palette else b""
    more += chunk(b"tRNS", transparent) if transparent else b""
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def bmp(pixels, width, height, channels=3):
    row = (width * channels + 3) // 4 * 4
    body = b""
    for y in reversed(range(height)):
        line = pixels[y * width * channels : (y + 1) * width * channels]
        if channels == 3:
            line = b"".join(line[3 * x + 2 : 3 * x - 1 if x else None : -1] for x in range(width))
        body += line.ljust(row, b"\0")
    colours = b"".join(bytes([i, i, i, 0]) for i in range(256)) if channels == 1 else b""
    begin = 54 + len(colours)
    return (b"BM" + struct.pack("<IHHI", begin + len(body), 0, 0, begin)
            + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8 * channels, 0, len(body), 2835, 2835, len(colours) // 4, 0)
            + colours + body)  # fmt: skip


def tiff(pixels, width, height, channels=3):
    """One strip, not compressed."""
    rows = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1 if channels == 1 else 2),
            (273, 4, 1, 8), (277, 3, 1, channels), (278, 4, 1, height), (279, 4, 1, len(pixels))]  # fmt: skip
    at = 8 + len(pixels) + len(pixels) % 2
    behind = at + 2 + 12 * len(rows) + 4
    if channels == 3:
        rows[2] = (258, 3, 3, behind)
    directory = struct.pack("<H", len(rows)) + b"".join(struct.pack("<HHII", *row) for row in rows) + struct.pack("<I", 0)
    return b"II*\0" + struct.pack("<I", at) + pixels + b"\0" * (len(pixels) % 2) + directory + struct.pack("<HHH", 8, 8, 8)


class Bits:
    """A row of bits: the first one is the lowest of its byte, or the highest."""

    def __init__(self, lowest_first):
        self.lowest_first, self.text = lowest_first, []

    def put(self, value, count):
        bits = format(value, f"0{count}b") if count else ""
        self.text.append(bits[::-1] if self.lowest_first else bits)

    def put_code(self, code, count):
        """A prefix code, whose highest bit always comes first."""
        self.text.append(format(code, f"0{count}b"))

    def bytes(self, fill):
        bits = "".join(self.text)
        bits += fill * (-len(bits) % 8)
        return bytes(int(bits[i : i + 8][::-1] if self.lowest_first else bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def webp(pixels, width, height):
    """Lossless, each colour a literal: every code has eight bits."""
    out = Bits(lowest_first=True)
    for value, count in ((0x2F, 8), (width - 1, 14), (height - 1, 14), (0, 1), (0, 3), (0, 1), (0, 1), (0, 1)):
        out.put(value, count)
    for literals, zeros in ((256, 24), (256, 0), (256, 0), (256, 0)):
        out.put(0, 1)
        out.put(12 - 4, 4)  # lengths of code lengths, in the order of the format: 17, 18, 0 to 5, 16, 6, 7, 8
        for length in (0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1):
            out.put(length, 3)
        out.put(0, 1)
        out.put(0, literals)  # all of length 8
        if zeros:
            out.put_code(1, 1)
            out.put(zeros - 11, 7)
    out.put(1, 4)  # distances: a single code of no bits
    for at in range(0, len(pixels), 3):
        red, green, blue = pixels[at : at + 3]
        for value in (green, red, blue, 255):
            out.put_code(value, 8)
    data = out.bytes("0")
    chunk = b"VP8L" + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


ZIGZAG = sorted(range(64), key=lambda i: (i // 8 + i % 8, i // 8 if (i // 8 + i % 8) % 2 else i % 8))
COSINES = [[math.cos((2 * x + 1) * u * math.pi / 16) * (math.sqrt(0.125) if u == 0 else 0.5) for x in range(8)]
           for u in range(8)]  # fmt: skip
AC_SYMBOLS = [0, 0xF0] + [run << 4 | size for run in range(16) for size in range(1, 11)]


def _coefficients(plane, width, height, quant):
    """Rows of blocks of one component. Pixels at the edges are repeated to fill blocks."""
    rows = []
    for top in range(0, height, 8):
        row = []
        for left in range(0, width, 8):
            block = [[plane[min(top + y, height - 1)][min(left + x, width - 1)] - 128 for x in range(8)] for y in range(8)]
            half = [[sum(c * v for c, v in zip(wave, line)) for wave in COSINES] for line in block]
            turned = list(zip(*half))
            both = [[sum(c * v for c, v in zip(wave, line)) for wave in COSINES] for line in turned]
            row.append([round(both[i % 8][i // 8] / quant) for i in ZIGZAG])
        rows.append(row)
    return rows


def _planes(pixels, width, height, channels):
    """Grey, Y Cb Cr, or four inverted inks."""
    if channels == 3:
        ycc = bytearray()
        for i in range(0, len(pixels), 3):
            r, g, b = pixels[i : i + 3]
            for value in (0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
                          128 + 0.5 * r - 0.418688 * g - 0.081312 * b):  # fmt: skip
                ycc.append(max(0, min(255, round(value))))
        pixels = bytes(ycc)
    return [[pixels[y * width * channels + c : (y + 1) * width * channels : channels] for y in range(height)]
            for c in range(channels)]  # fmt: skip


def _put_number(out, value):
    size = abs(value).bit_length()
    out.put(value if value > 0 else value + (1 << size) - 1, size)


def _put_block(out, block, last_dc, first, last):
    """Coefficients `first` to `last` of a block."""
    if first == 0:
        difference = block[0] - last_dc
        out.put_code(abs(difference).bit_length(), 4)
        _put_number(out, difference)
    zeros = 0
    for value in block[max(first, 1) : last + 1]:
        if value == 0:
            zeros += 1
            continue
        for _ in range(zeros // 16):
            out.put_code(1, 8)
        out.put_code(AC_SYMBOLS.index(zeros % 16 << 4 | abs(value).bit_length()), 8)
        _put_number(out, value)
        zeros = 0
    if zeros and last > 0:
        out.put_code(0, 8)


def _segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def _units(blocks, factors):
    """[(component, block)] of each unit of a scan of all components."""
    (high, wide) = factors[0]
    for top in range(0, len(blocks[0]), high):
        for left in range(0, len(blocks[0][0]), wide):
            unit = []
            for c, rows in enumerate(blocks):
                h, w = factors[c]
                for y in range(h):
                    for x in range(w):
                        row = rows[min(top // high * h + y, len(rows) - 1)]
                        unit.append((c, row[min(left // wide * w + x, len(row) - 1)]))
            yield unit


def _scan(units, components, first, last, restart):
    header = bytes([len(components)]) + b"".join(bytes([c + 1, 0]) for c in components) + bytes([first, last, 0])
    data, out, dc = b"", Bits(lowest_first=False), {}
    for number, unit in enumerate(units):
        if restart and number and number % restart == 0:
            data += out.bytes("1").replace(b"\xff", b"\xff\0") + bytes([0xFF, 0xD0 + (number // restart - 1) % 8])
            out, dc = Bits(lowest_first=False), {}
        for c, block in unit:
            _put_block(out, block, dc.get(c, 0), first, last)
            dc[c] = block[0]
    return _segment(0xDA, header) + data + out.bytes("1").replace(b"\xff", b"\xff\0")


def exif(orientation):
    """The segment that states the orientation of a photo."""
    return _segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01" + bytes([0, orientation]) + b"\0\0\0\0\0\0")


def jpeg(pixels, width, height, channels=3, *, halved=False, scans=(), restart=0, more=b"", quant=8):
    """Baseline, or progressive of one scan of all DC coefficients and `scans` of each component's, (first, last).

    halved: colours at half the sides (never with scans). restart: units between markers. more: segments put in front."""
    planes = _planes(pixels, width, height, channels)
    factors = [(2, 2)] + [(1, 1)] * (channels - 1) if halved else [(1, 1)] * channels
    if halved:
        planes = [planes[0]] + [[row[::2] for row in plane[::2]] for plane in planes[1:]]
    blocks = [_coefficients(plane, len(plane[0]), len(plane), quant) for plane in planes]
    tables = b"".join(bytes([kind]) + bytes(len(symbols) if length == bits else 0 for length in range(1, 17)) + bytes(symbols)
                      for kind, bits, symbols in ((0x00, 4, range(12)), (0x10, 8, AC_SYMBOLS)))  # fmt: skip
    frame = struct.pack(">BHHB", 8, height, width, channels)
    frame += b"".join(bytes([c + 1, w << 4 | h, 0]) for c, (h, w) in enumerate(factors))
    out = b"\xff\xd8" + more
    if channels == 4:
        out += _segment(0xEE, b"Adobe\0\x64\0\0\0\0\0")
    out += _segment(0xDB, b"\0" + bytes([quant] * 64)) + _segment(0xC2 if scans else 0xC0, frame) + _segment(0xC4, tables)
    if restart:
        out += _segment(0xDD, struct.pack(">H", restart))
    out += _scan(_units(blocks, factors), range(channels), 0, 0 if scans else 63, restart)
    for first, last in scans:
        for c, rows in enumerate(blocks):
            out += _scan([[(c, block)] for row in rows for block in row], [c], first, last, restart)
    return out + b"\xff\xd9"


def tar(files, mode="w"):
    """An archive of {name: bytes}; names may be invalid UTF-8."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.GNU_FORMAT, errors="surrogateescape") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _crc32c_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC32C = _crc32c_table()


def _masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC32C[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number_field(field, value):
    return varint(field << 3) + varint(value)


def bytes_field(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def tfrecord(examples):
    """A TFRecord file of [{feature: bytes or int}]."""
    out = b""
    for example in examples:
        features = b""
        for name, value in example.items():
            listed = bytes_field(3, bytes_field(1, varint(value))) if isinstance(value, int) else bytes_field(1, bytes_field(1, value))
            features += bytes_field(1, bytes_field(1, name.encode()) + bytes_field(2, listed))
        data = bytes_field(1, features)
        size = struct.pack("<Q", len(data))
        out += size + _masked_crc(size) + data + _masked_crc(data)
    return out


def recordio(images):
    """A RecordIO file of [([label], bytes)]; ids count from 0. No image holds the magic number at a multiple of four."""
    out = b""
    for number, (labels, data) in enumerate(images):
        one = len(labels) == 1
        record = struct.pack("<IfQQ", 0 if one else len(labels), labels[0] if one else 0, number, 0)
        record += (b"" if one else struct.pack(f"<{len(labels)}f", *labels)) + data
        out += struct.pack("<II", 0xCED7230A, len(record)) + record + b"\0" * (-len(record) % 4)
    return out


def datum_encoded(data, label):
    return bytes_field(4, data) + number_field(5, label) + number_field(7, 1)


def datum_raw(pixels, width, height, channels, label):
    planes = b"".join(pixels[c::channels] for c in reversed(range(channels)))
    return (number_field(1, channels) + number_field(2, height) + number_field(3, width) + bytes_field(4, planes)
            + number_field(5, label))  # fmt: skip


def lmdb(values, page=4096):
    """The data.mdb of {key: bytes}, with a single leaf: each value has its own pages."""
    nodes, pages = b"", b""
    offsets, upper, free = [], page, 3  # pages 0 and 1 are the heads, 2 the leaf
    for key, value in sorted(values.items()):
        count = (16 + len(value) + page - 1) // page
        pages += (struct.pack("<QHHI", free, 0, 4, count) + value).ljust(count * page, b"\0")
        node = struct.pack("<HHHH", len(value) & 0xFFFF, len(value) >> 16, 1, len(key)) + key + struct.pack("<Q", free)
        node += b"\0" * (len(node) % 2)
        upper -= len(node)
        nodes = node + nodes
        offsets.append(upper)
        free += count
    lower = 16 + 2 * len(offsets)
    assert lower <= upper, "too many values for one leaf"
    leaf = struct.pack("<QHHHH", 2, 0, 2, lower, upper) + struct.pack(f"<{len(offsets)}H", *offsets)
    leaf = leaf.ljust(upper, b"\0") + nodes
    none = struct.pack("<IHHQQQQQ", page, 8, 0, 0, 0, 0, 0, 2**64 - 1)
    tree = struct.pack("<IHHQQQQQ", 0, 0, 1, 0, 1, free - 3, len(values), 2)
    heads = b""
    for number in range(2):
        meta = struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, free * page) + none + tree + struct.pack("<QQ", free - 1, number)
        heads += (struct.pack("<QHHHH", number, 0, 8, 0, 0) + meta).ljust(page, b"\0")
    return heads + leaf + pages


def mat(arrays, compressed=True):
    """A MAT-file of {name: (sides, bytes)} of unsigned bytes, the first side fastest."""

    def element(kind, data):
        if 0 < len(data) <= 4:
            return struct.pack("<I", kind | len(data) << 16) + data.ljust(4, b"\0")
        return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    out = b"MATLAB 5.0 MAT-file, Platform: GLNXA64".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    for name, (sides, data) in arrays.items():
        array = element(14, element(6, struct.pack("<II", 9, 0)) + element(5, struct.pack(f"<{len(sides)}i", *sides))
                        + element(1, name.encode()) + element(2, data))  # fmt: skip
        packed = zlib.compress(array)
        out += struct.pack("<II", 15, len(packed)) + packed if compressed else array
    return out
