/** One field of a protobuf message: a number, or bytes (text, a message, packed numbers). */
export type Field = { readonly number: number; readonly value: number | Uint8Array }

/**
 * Walks through the fields of a protobuf message, in their order, and copies nothing: bytes are a view. Throws RangeError when
 * the bytes are no message. Numbers above 2^53 lose their last digits.
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  let at = 0
  const varint = (): number => {
    let [value, scale] = [0, 1]
    for (let i = 0; i < 10; i += 1) {
      const byte = bytes[at]
      if (byte === undefined) break
      at += 1
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 0x80
    }
    throw new RangeError('a number does not end')
  }
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new RangeError('a field is longer than what is there')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = varint()
    const [number, kind] = [Math.floor(tag / 8), tag % 8]
    if (number === 0) throw new RangeError('a field has no number')
    if (kind === 0) yield { number, value: varint() }
    else if (kind === 1) yield { number, value: take(8) }
    else if (kind === 2) yield { number, value: take(varint()) }
    else if (kind === 5) yield { number, value: take(4) }
    else throw new RangeError(`fields of kind ${kind} are unknown`)
  }
}

/** Returns all messages or texts of a field. */
export const bytesIn = (message: Uint8Array, number: number): Uint8Array[] =>
  [...fieldsOf(message)].flatMap((field) =>
    field.number === number && typeof field.value !== 'number' ? [field.value] : [],
  )

/** Returns the last number of a field, as protobuf reads it; undefined when it has none. */
export const numberIn = (message: Uint8Array, number: number): number | undefined =>
  [...fieldsOf(message)]
    .flatMap((field) => (field.number === number && typeof field.value === 'number' ? [field.value] : []))
    .at(-1)

/** Returns the last text of a field; '' when it has none. */
export const textIn = (message: Uint8Array, number: number): string =>
  new TextDecoder().decode(bytesIn(message, number).at(-1) ?? new Uint8Array())
