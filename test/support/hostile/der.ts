const most = 64 * 1024

/** ASN.1 that takes a parser long, or deep. Each answer fits into what the gateway takes of a time stamp authority. */
export const hostileDer = {
  'sequences in sequences without a length': Buffer.from('3080'.repeat(most / 2 - 1), 'hex'),
  'sequences in sequences': nested(10_000),
  'sequences beside sequences': element(0x30, Buffer.from('3000'.repeat(32_000), 'hex')),
  'a long object identifier': element(0x30, element(0x06, Buffer.alloc(61_000, 0x7f))),
  'a long object identifier in a string': element(0x30, element(0x04, element(0x06, Buffer.alloc(61_000, 0x7f)))),
  'a long number': element(0x30, element(0x02, Buffer.alloc(61_000, 0x7f))),
  'strings in strings': Buffer.from('2480'.repeat(32_000), 'hex'),
  'a long tag': Buffer.concat([Buffer.of(0x3f), Buffer.alloc(60_000, 0xff)]),
  'a length without an end': Buffer.from(`30ff${'ff'.repeat(127)}`, 'hex'),
} as const satisfies Record<string, Buffer>

function element(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...head), content])
}

function nested(depth: number): Buffer {
  let content = Buffer.alloc(0)
  for (let i = 0; i < depth; i += 1) content = Buffer.from(element(0x30, content))
  return content
}
