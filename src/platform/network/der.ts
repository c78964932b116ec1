const bounds = { elements: 5000, depth: 48 } as const
const tags = { end: 0x00, integer: 0x02, bitString: 0x03, octetString: 0x04, objectIdentifier: 0x06 } as const
/** Bytes of one element at most, by its tag. */
const longest: Readonly<Record<number, number>> = { [tags.integer]: 1024, [tags.objectIdentifier]: 64 }
const constructed = 0x20

/**
 * Tells whether ASN.1 of another machine has few elements, without deep nesting, long object identifiers or long numbers: libraries
 * take a time for them that grows with the square of their length. Takes BER with indefinite lengths, too. Looks into a string that
 * is one element, because it may be read as ASN.1 later. The library refuses other bytes.
 */
export function isBoundedDer(bytes: Uint8Array): boolean {
  const open: Open[] = [{ at: 0, end: bytes.length, hasMark: false }]
  for (let elements = 0; ; elements += 1) {
    const inner = open.at(-1)
    if (!inner) return true
    const head = inner.at < inner.end ? headAt(bytes, inner.at) : undefined
    if (!head || head.contentAt > inner.end || (inner.hasMark && head.tag === tags.end)) {
      open.pop()
      const outer = open.at(-1)
      if (outer && inner.hasMark) outer.at = head?.contentAt ?? outer.end
      continue
    }
    const { tag, contentAt, length } = head
    const end = Math.min(contentAt + (length ?? Infinity), inner.end)
    inner.at = end
    if (elements > bounds.elements || open.length > bounds.depth) return false
    if (end - contentAt > (longest[tag] ?? Infinity)) return false
    const from = tag === tags.bitString ? contentAt + 1 : contentAt
    if ((tag & constructed) !== 0 || isOneElement(bytes, tag, from, end))
      open.push({ at: from, end, hasMark: length === undefined })
  }
}

/** `hasMark`: a mark ends it, not its length. */
type Open = { at: number; readonly end: number; readonly hasMark: boolean }

function isOneElement(bytes: Uint8Array, tag: number, from: number, end: number): boolean {
  if (tag !== tags.octetString && tag !== tags.bitString) return false
  const head = headAt(bytes, from)
  return head !== undefined && (head.length === undefined || head.contentAt + head.length === end)
}

type Head = { readonly tag: number; readonly contentAt: number; readonly length: number | undefined }

/** Returns the head of an element; its length is undefined where a mark ends it. */
function headAt(bytes: Uint8Array, at: number): Head | undefined {
  const tag = bytes[at]
  const first = bytes[at + 1]
  // No part of a time stamp has a tag of more than one byte.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  if (first < 0x80) return { tag, contentAt: at + 2, length: first }
  if (first === 0x80) return { tag, contentAt: at + 2, length: undefined }
  const count = first & 0x7f
  const digits = bytes.subarray(at + 2, at + 2 + count)
  if (count > 4 || digits.length < count) return undefined
  return { tag, contentAt: at + 2 + count, length: digits.reduce((sum, digit) => sum * 256 + digit, 0) }
}
