// Places in a line.

/** Python's columns count bytes of UTF-8; the editor counts UTF-16 units. */
export function unitOf(line: string, byte: number): number {
  let bytes = 0;
  for (let i = 0; i < line.length; ) {
    if (bytes >= byte) return i;
    const code = line.codePointAt(i)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    i += code < 0x10000 ? 1 : 2;
  }
  return line.length;
}
