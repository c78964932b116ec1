import fs, {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  clockIsTrusted,
  createLogger,
  loadBoxKey,
  scrubText,
  secretBox,
  systemRandom,
  uuidv7Maker,
  writeFileDurably,
  writeFileDurablyAside,
} from '../../src/world/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-world-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('ids of one maker ascend, whatever the clock does, and carry their time', async (t) => {
  const first = uuidv7Maker({ now: () => 0x017f22e279b0 }, systemRandom)()
  // Time of the example in RFC 9562, appendix A.6.
  t.match(first, /^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 2, maxLength: 200 }), (times) => {
      const left = [...times]
      const make = uuidv7Maker({ now: () => left.shift() ?? 0 }, systemRandom)
      const ids = times.map(make)
      return ids.every((id, i) => i === 0 || (ids[i - 1] ?? '') < id)
    }),
  )
  const make = uuidv7Maker({ now: () => 1 }, systemRandom)
  const many = Array.from({ length: 10_000 }, make)
  t.same(many, many.toSorted(), 'also ten thousand in one millisecond')
  t.equal(new Set(many).size, many.length)
})

t.test('a sealed secret opens with its key for its row, and with nothing else', async (t) => {
  const key = loadBoxKey(join(folder, 'keys', 'box.key'), systemRandom)
  t.equal(statSync(join(folder, 'keys', 'box.key')).mode & 0o777, 0o600)
  t.ok(key.equals(loadBoxKey(join(folder, 'keys', 'box.key'), systemRandom)), 'the key is made once')
  const box = secretBox(key, systemRandom)
  const sealed = box.seal('pssst', 'webhook:1')
  t.notMatch(sealed.toString('latin1'), 'pssst')
  t.notSame(sealed, box.seal('pssst', 'webhook:1'), 'never the same twice')
  t.equal(box.open(sealed, 'webhook:1'), 'pssst')
  t.throws(() => box.open(sealed, 'webhook:2'), 'another row')
  t.throws(() => secretBox(systemRandom(32), systemRandom).open(sealed, 'webhook:1'), 'another key')
  for (let i = 0; i < sealed.length; i += 1) {
    const damaged = Buffer.from(sealed)
    damaged[i] = (damaged[i] ?? 0) ^ 1
    t.throws(() => box.open(damaged, 'webhook:1'), `byte ${i}`)
  }
  writeFileSync(join(folder, 'short.key'), 'short')
  t.throws(() => loadBoxKey(join(folder, 'short.key'), systemRandom), /not a key of 32 bytes/)
})

t.test('no secret reaches the log, whether it stands under its name, in a URL or in a text', async (t) => {
  t.equal(scrubText('rtsp://u:p%40ss@10.0.0.1/cam failed'), 'rtsp://***@10.0.0.1/cam failed')
  t.equal(scrubText('Authorization: Bearer abc.def-1'), 'Authorization: Bearer ***')
  t.equal(scrubText('GET /x?token=abc&y=1'), 'GET /x?token=***&y=1')
  const file = join(folder, 'log')
  const fd = openSync(file, 'w')
  const log = createLogger({ fd })
  log.info(
    {
      secret: 'xyzzy',
      webhook: { secret: 'xyzzy' },
      a: { b: { password: 'xyzzy' } },
      headers: { authorization: 'Basic xyzzy' },
    },
    'told',
  )
  log.error(
    { err: new Error('connect to https://user:xyzzy@host/ failed', { cause: new Error('Bearer xyzzy') }) },
    'with Basic xyzzy',
  )
  closeSync(fd)
  const text = readFileSync(file, 'utf8')
  t.match(text, /"msg":"told"/)
  t.match(text, /user|host/, 'what is no secret stays')
  t.notMatch(text, 'xyzzy')
})

t.test('a file is replaced whole or not at all', async (t) => {
  const file = join(folder, 'deep', 'file')
  writeFileDurably(file, 'one', 0o640)
  t.equal(statSync(file).mode & 0o777, 0o640)
  writeFileDurably(file, Buffer.from('two'))
  t.equal(readFileSync(file, 'utf8'), 'two')
  mkdirSync(join(folder, 'deep', 'occupied', 'full'), { recursive: true })
  t.throws(() => writeFileDurably(join(folder, 'deep', 'occupied'), 'x'), 'a folder is in the way')
  t.same(readdirSync(join(folder, 'deep')).toSorted(), ['file', 'occupied'], 'and no part is left behind')
})

t.test('folders that were made for a file are on disk before the file counts as there', async (t) => {
  const synced: string[] = []
  const real = { openSync: fs.openSync, fsyncSync: fs.fsyncSync }
  const paths = new Map<number, string>()
  Object.assign(fs, {
    openSync: (...given: Parameters<typeof fs.openSync>) => {
      const fd = real.openSync(...given)
      paths.set(fd, String(given[0]))
      return fd
    },
    fsyncSync: (fd: number) => {
      synced.push(paths.get(fd)?.replace(/\.part-.*/, '.part') ?? '')
      real.fsyncSync(fd)
    },
  })
  syncBuiltinESMExports()
  try {
    writeFileDurably(join(folder, 'x', 'y', 'file'), 'one')
    writeFileDurably(join(folder, 'x', 'y', 'file'), 'two')
  } finally {
    Object.assign(fs, real)
    syncBuiltinESMExports()
  }
  const file = ['x/y/file.part', 'x/y']
  t.same(
    synced.map((path) => path.slice(folder.length + 1)),
    ['', 'x', ...file, ...file],
    'the folder above the first new one, and so on down; once made, no more',
  )
})

t.test('a large file is written aside, by several at once if need be', async (t) => {
  const file = join(folder, 'aside', 'deep', 'file')
  const whole = Buffer.alloc(1_000_000, 7)
  await Promise.all(Array.from({ length: 5 }, () => writeFileDurablyAside(file, whole, 0o640)))
  t.ok(readFileSync(file).equals(whole))
  t.equal(statSync(file).mode & 0o777, 0o640)
  mkdirSync(join(folder, 'aside', 'occupied', 'full'), { recursive: true })
  await t.rejects(writeFileDurablyAside(join(folder, 'aside', 'occupied'), whole), 'a folder is in the way')
  t.same(readdirSync(join(folder, 'aside', 'deep')), ['file'], 'and no part is left behind')
  t.same(readdirSync(join(folder, 'aside')).toSorted(), ['deep', 'occupied'])
})

t.test('the clock counts as wrong only when the system says so', async (t) => {
  const built = Date.UTC(2026, 0, 1)
  const sync = join(folder, 'timesync')
  t.equal(clockIsTrusted(built, built, sync), true, 'nothing can say')
  t.equal(clockIsTrusted(built - 1, built, sync), false, 'before the program was built')
  mkdirSync(sync)
  t.equal(clockIsTrusted(built, built, sync), false, 'timesyncd runs and has not synchronised')
  writeFileSync(join(sync, 'synchronized'), '')
  t.equal(clockIsTrusted(built, built, sync), true)
  t.ok(existsSync(sync))
})
