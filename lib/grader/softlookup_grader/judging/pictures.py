"""Pictures of submissions: PNG and JPEG of a size that a browser can show, without their notes, and never decoded."""

import struct

MAX_SIDE = 4_000  # points that a picture may be wide, and high

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PNG_KEPT = {b"IHDR", b"PLTE", b"tRNS", b"sRGB", b"gAMA", b"IDAT", b"IEND"}
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN, _COMMENT = 0xDA, 0xFE
_NOTES = set(range(0xE1, 0xF0)) - {0xEE} | {_COMMENT}
"""Segments of a JPEG file that say something about it; 0xEE says how its colours are meant, and stays."""


def stripped(raw: bytes) -> bytes | None:
    """Take a picture without what is written into it beside its points."""
    if raw.startswith(PNG):
        return _png(raw)
    return _jpeg(raw) if raw.startswith(JPEG) else None


def _png(raw: bytes) -> bytes | None:
    chunks, at = [PNG], len(PNG)
    while at + 12 <= len(raw):
        length, chunk_type = struct.unpack_from(">I4s", raw, at)
        end = at + 12 + length
        if end > len(raw) or (at == len(PNG)) != (chunk_type == b"IHDR"):
            return None
        if chunk_type == b"IHDR" and (length != 13 or not _fits(*struct.unpack_from(">II", raw, at + 8))):
            return None
        if chunk_type in _PNG_KEPT:
            chunks.append(raw[at:end])
        if chunk_type == b"IEND":
            return b"".join(chunks)
        at = end
    return None


def _jpeg(raw: bytes) -> bytes | None:
    segments, at, has_frame = [raw[:2]], 2, False
    while at + 4 <= len(raw) and raw[at] == 0xFF:
        marker, length = raw[at + 1], int.from_bytes(raw[at + 2 : at + 4], "big")
        end = at + 2 + length
        if marker == _SCAN:
            return b"".join([*segments, raw[at:]]) if has_frame else None
        if length < 2 or end > len(raw):
            return None
        if marker in _FRAMES:
            if has_frame or length < 8:
                return None
            height, width = struct.unpack_from(">HH", raw, at + 5)
            if not _fits(width, height):
                return None
            has_frame = True
        if marker not in _NOTES:
            segments.append(raw[at:end])
        at = end
    return None


def _fits(width: int, height: int) -> bool:
    return 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE
