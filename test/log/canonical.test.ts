import canonicalize from 'canonicalize'
import fc from 'fast-check'
import t from 'tap'
import { canonicalJson, type Json, leafHash, nodeHash, sha256 } from '../../src/log/index.ts'

/** Keys that look like an index, that hold separators, and keys of every alphabet. */
const key = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('10', '9', '0', '__proto__', 'toString', 'a,b', 'a', 'b', '\ud83d\ude00', '\ufb33', '"', '\\'),
)
const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom<Json>(null, -0, 1e21, 1e-7, '\u2028', '\u007f', '\ud7ff\ue000', 'a"b\\c\n\t\0'),
)
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(key, fc.option(tie('value'), { nil: undefined, freq: 8 }) as fc.Arbitrary<Json>, { maxKeys: 12 }),
  ),
}))

t.test('the canonical text of any value is the one of the package', (t) => {
  fc.assert(
    fc.property(value, (one) => canonicalJson(one) === canonicalize(one)),
    { numRuns: 3000 },
  )
  t.end()
})

t.test('two objects whose keys only look alike behind one another keep their own order', (t) => {
  t.equal(canonicalJson({ 'b,a': 1, c: 2 }), '{"b,a":1,"c":2}')
  t.equal(canonicalJson({ b: 1, 'a,c': 2 }), '{"a,c":2,"b":1}')
  t.equal(canonicalJson({ z: 1, c: 2 }), '{"c":2,"z":1}')
  t.equal(canonicalJson({ z: 1, b: 2 }), '{"b":2,"z":1}', 'after one with the same first key and as many keys')
  t.equal(canonicalJson({ 10: 1, 9: 2, 1: 3 }), '{"1":3,"10":1,"9":2}')
  for (let n = 0; n < 100; n += 1) t.equal(canonicalJson({ [`z${n}`]: n, a: null }), `{"a":null,"z${n}":${n}}`)
  t.end()
})

t.test('what JSON cannot hold is refused, wherever it stands', (t) => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', 'a\udc00']) {
    for (const one of [bad, [bad], { a: [bad] }]) t.throws(() => canonicalJson(one as Json), TypeError)
  }
  t.throws(() => canonicalJson({ '\ud800': 1 }), TypeError)
  t.throws(() => canonicalJson(undefined as never), TypeError)
  t.end()
})

t.test('a value that is nested deeper than a stack has a text', (t) => {
  const depth = 100_000
  let nested: Json = 1
  for (let n = 0; n < depth; n += 1) nested = [nested]
  t.equal(canonicalJson(nested), `${'['.repeat(depth)}1${']'.repeat(depth)}`)
  t.end()
})

t.test('hashes of leaves and nodes of any length are those of RFC 6962', (t) => {
  for (const length of [0, 1, 32, 700, 65_534, 65_535, 65_536, 100_000]) {
    const bytes = Buffer.alloc(length, 7)
    t.same(leafHash(bytes), sha256(Buffer.concat([Buffer.of(0), bytes])), String(length))
  }
  const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  t.same(nodeHash(one, other), sha256(Buffer.concat([Buffer.of(1), one, other])))
  t.same(nodeHash(one.subarray(1), other), sha256(Buffer.concat([Buffer.of(1), one.subarray(1), other])))
  t.same(leafHash(Buffer.of(9)), sha256(Buffer.of(0, 9)), 'a shorter leaf after a longer one')
  t.end()
})
