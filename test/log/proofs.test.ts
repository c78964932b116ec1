import t from 'tap'
import {
  consistencyPath,
  inclusionPath,
  isContinuation,
  leafHash,
  type NodeAt,
  nodeHash,
  rootOf,
  rootOfPath,
  sha256,
} from '../../src/log/index.ts'

/** The leaves and roots that the tests of Certificate Transparency publish for RFC 6962. */
const published = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

/** MTH as RFC 6962 defines it: recursion over the hashes of the leaves. */
function mth(hashes: readonly Buffer[]): Buffer {
  if (hashes.length === 0) return sha256('')
  if (hashes.length === 1) return hashes[0] as Buffer
  let k = 1
  while (k * 2 < hashes.length) k *= 2
  return nodeHash(mth(hashes.slice(0, k)), mth(hashes.slice(k)))
}

const nodesOver =
  (hashes: readonly Buffer[]): NodeAt =>
  (level, index) =>
    mth(hashes.slice(index * 2 ** level, (index + 1) * 2 ** level))

const published8 = published.map((hex) => leafHash(Buffer.from(hex, 'hex')))
const many = Array.from({ length: 140 }, (_, i) => leafHash(Buffer.from(`leaf ${i}`)))
const hex = (path: readonly Buffer[]) => path.map((hash) => hash.toString('hex'))

t.test('roots are those that RFC 6962 gives for the published leaves', async (t) => {
  for (const [size, root] of roots.entries()) {
    t.equal(rootOf(size, nodesOver(published8)).toString('hex'), root, `${size} leaves`)
  }
})

t.test('paths are those of the published examples', async (t) => {
  const nodes = nodesOver(published8)
  t.same(hex(inclusionPath(0, 8, nodes)), [
    '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  ])
  t.same(hex(inclusionPath(1, 5, nodes)), [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
  ])
  t.same(hex(consistencyPath(6, 8, nodes)), [
    '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ])
  t.same(consistencyPath(0, 8, nodes), [])
  t.same(consistencyPath(8, 8, nodes), [])
})

t.test('each leaf of each tree proves itself, and no other leaf, index or size passes', async (t) => {
  const nodes = nodesOver(many)
  for (let size = 1; size <= 130; size += size < 20 ? 1 : 13) {
    const root = mth(many.slice(0, size))
    for (let index = 0; index < size; index += 1) {
      const path = inclusionPath(index, size, nodes)
      const leaf = many[index] as Buffer
      if (!rootOfPath(index, size, leaf, path)?.equals(root)) t.fail(`leaf ${index} of ${size}`)
      if (rootOfPath(index, size, many[139] as Buffer, path)?.equals(root))
        t.fail(`another leaf at ${index} of ${size}`)
      if (size > 1 && rootOfPath((index + 1) % size, size, leaf, path)?.equals(root)) t.fail(`${index} elsewhere`)
      if (rootOfPath(index, size, leaf, [...path, root])) t.fail('a path that is too long')
      if (path.length > 0 && rootOfPath(index, size, leaf, path.slice(1))?.equals(root)) t.fail('a path that is cut')
    }
  }
  t.equal(rootOfPath(3, 3, many[3] as Buffer, []), undefined, 'an index beyond the tree')
  t.equal(rootOfPath(-1, 3, many[0] as Buffer, []), undefined)
})

t.test('each tree is proved to continue each earlier one, and no other tree passes', async (t) => {
  const nodes = nodesOver(many)
  const head = (size: number) => ({ size, root: mth(many.slice(0, size)) })
  const other = sha256('another history')
  for (let to = 0; to <= 130; to += to < 18 ? 1 : 17) {
    for (let from = 0; from <= to; from += 1) {
      const path = consistencyPath(from, to, nodes)
      if (!isContinuation(head(from), head(to), path)) t.fail(`${from} to ${to}`)
      if (from > 0 && isContinuation({ size: from, root: other }, head(to), path))
        t.fail(`a forged first root, ${from} to ${to}`)
      if (from > 0 && isContinuation(head(from), { size: to, root: other }, path))
        t.fail(`a forged root, ${from} to ${to}`)
      if (isContinuation(head(from), head(to), [...path, other])) t.fail(`a longer proof, ${from} to ${to}`)
      if (path.length > 0 && isContinuation(head(from), head(to), path.slice(0, -1)))
        t.fail(`a cut proof, ${from} to ${to}`)
    }
  }
  t.notOk(isContinuation(head(8), head(5), []), 'a tree never shrinks')
})
