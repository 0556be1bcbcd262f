/** The log leaves zeros at the end of a fixed length out. */
function filled(stored: Buffer, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  stored.copy(bytes);
  return bytes;
}

export function inet4Text(stored: Buffer): string {
  return [...filled(stored, 4)].join('.');
}

/**
 * As MariaDB prints it (plugin/type_inet/sql_type_inet.cc): the first of the longest runs of zero groups is left out,
 * also one of a single group, which the library prints; what is left is an IPv4 address where such a one is mapped.
 */
export function inet6Text(stored: Buffer): string {
  const bytes = filled(stored, 16);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index));
  const gap = longestZeros(groups);
  const isMapped = gap.start === 0 && (gap.length === 6 || (gap.length === 5 && groups[5] === 0xffff));
  const hex = (some: readonly number[]): string[] => some.map((group) => group.toString(16));
  const behind = isMapped
    ? [...hex(groups.slice(gap.length, 6)), [...bytes.subarray(12)].join('.')]
    : hex(groups.slice(gap.start + gap.length));
  if (gap.length === 0) return behind.join(':');
  return `${hex(groups.slice(0, gap.start)).join(':')}::${behind.join(':')}`;
}

function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, index) => {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  });
  return longest;
}

/** Segments of a uuid by length: the last comes first where MariaDB stores it in the order of time. */
const UUID_SEGMENTS = [6, 2, 2, 2, 4];

/**
 * MariaDB stores a uuid of the versions 1 to 5 with its segments in reverse, told by where version and variant
 * lie then (sql/sql_type_uuid.h).
 */
export function uuidText(stored: Buffer): string {
  const bytes = filled(stored, 16);
  const version = bytes.readUInt8(8);
  const reversed = (bytes.readUInt8(6) & 0x80) !== 0 && version > 0 && version < 0x60;
  const lengths = reversed ? UUID_SEGMENTS : [...UUID_SEGMENTS].reverse();
  let at = 0;
  const segments = lengths.map((length) => {
    at += length;
    return bytes.toString('hex', at - length, at);
  });
  return (reversed ? segments.reverse() : segments).join('-');
}
