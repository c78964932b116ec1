import { createHmac } from 'node:crypto'
import fs, {
  closeSync,
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
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  ClockSync,
  createLogger,
  isJournal,
  isoTime,
  KeyedHash,
  loadBoxKey,
  scrubText,
  secretBox,
  systemRandom,
  temporaryFolder,
  uuidv7Maker,
  writeFileDurably,
  writeFileDurablyAside,
} from '../../src/platform/index.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

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

t.test('a time is written as ISO 8601 has it, of any day', async (t) => {
  const day = 24 * 60 * 60 * 1000
  const ms = fc.oneof(
    fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
    fc.integer({ min: Date.parse('2026-03-01'), max: Date.parse('2026-03-03') }),
    fc.integer({ min: -3, max: 3 }).map((n) => 20_000 * day + n),
    fc.double({ min: -1e12, max: 1e13, noNaN: true }),
  )
  fc.assert(fc.property(ms, (ms) => isoTime(ms) === new Date(ms).toISOString()))
  t.throws(() => isoTime(Number.NaN), RangeError)
})

t.test('a keyed hash is the HMAC that everybody knows', async (t) => {
  const keys = fc.uint8Array({ maxLength: 130 })
  const everyKey = fc.property(
    keys,
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.uint8Array(),
    (key, text, bytes) => {
      const known = createHmac('sha256', key).update(text).update(bytes).digest('hex')
      return new KeyedHash(key).of('hex', text, bytes) === known
    },
  )
  t.doesNotThrow(() => fc.assert(everyKey))
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

t.test('temporary files go to the first place with room for them, and a missing place is named', (t) => {
  const place = t.testdir()
  // Not even root makes a folder there.
  const folder = temporaryFolder(['/proc', place])
  t.equal(dirname(folder), place)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.throws(() => temporaryFolder(['/proc', '/proc/none']), /\/proc: ENOENT, \/proc\/none: ENOENT\); set TMPDIR/)
  t.end()
})

t.test('each line in the journal has the priority of its message, also the lines of an error', async (t) => {
  let lines = ''
  const log = createLogger({
    format: 'journal',
    write: (line) => {
      lines += line
    },
  })
  log.info('the gateway is up')
  log.warn({ note: 'a\n<0>b' }, 'the disk fills up')
  log.error({ err: new Error('broken') }, 'failed')
  // sd-daemon(3): 3 error, 4 warning, 6 informational.
  const [up, warning, note, failed, ...stack] = lines.trimEnd().split('\n')
  t.match(up, /^<6>INFO {2}the gateway is up$/)
  t.match(warning, /^<4>WARN {2}the disk fills up/)
  t.match(note, /^<4> {4}a$/)
  t.match(failed, /^<4> {4}<0>b$/)
  t.ok(stack.length > 2 && stack.every((line) => line.startsWith('<3>')))
})

t.test('secrets are looked for in a text of any length without holding the box up', async (t) => {
  const startedMs = performance.now()
  const long = 'x'.repeat(1_000_000)
  t.equal(scrubText(`${long}rtsp://viewer:xyzzy@10.0.0.1/${long}`).length, 2_000_000 + 'rtsp://***@10.0.0.1/'.length)
  t.ok(performance.now() - startedMs < 5000, 'a step back at each letter would take minutes')
})

t.test('stderr counts as the journal only when it is the stream that systemd names', async (t) => {
  const file = join(t.testdir({ stream: '' }), 'stream')
  const fd = fs.openSync(file, 'r')
  t.teardown(() => fs.closeSync(fd))
  const { dev, ino } = fs.fstatSync(fd)
  t.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino}` }, fd), true)
  t.equal(isJournal({ JOURNAL_STREAM: `${dev}:${ino + 1}` }, fd), false, 'it was redirected')
  t.equal(isJournal({}, fd), false)
})

t.test('a text log says the same as the JSON log, for people, and no fact can begin a line of its own', async (t) => {
  const lines = { text: '', json: '' }
  for (const format of ['text', 'json'] as const) {
    const log = createLogger({
      ...{ format, level: 'debug', name: 'cameras' },
      write: (line) => {
        lines[format] += line
      },
    })
    log.warn(
      { cameraId: 7, url: 'rtsp://viewer:xyzzy@10.0.0.1/main', password: 'xyzzy' },
      'Dock door gives no pictures.',
    )
    log.info({ said: 'x\u001b[2Jy', forged: 'a\n2026-01-01 ERROR all is lost' }, 'hello\r\nworld')
    log.info({ note: 'two words', list: ['a', 1], none: null }, 'facts')
    log.error({ err: new Error('outer', { cause: new Error('Bearer xyzzy') }) }, 'failed')
    log.debug('small')
  }
  const text = lines.text.split('\n')
  t.match(
    text[0],
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z WARN {2}Dock door gives no pictures\. \[cameras\] cameraId=7 url=/,
  )
  t.match(text[0], 'url=rtsp://***@10.0.0.1/main')
  t.match(text[1], /INFO {2}hello world/)
  t.match(lines.text, /^ {4}2026-01-01 ERROR all is lost$/m, 'lines of a fact are indented')
  t.notMatch(lines.text, /^2026-01-01/m)
  t.notMatch(lines.text, '\u001b')
  t.match(lines.text, /facts \[cameras\] note="two words" list=\["a",1\]$/m)
  t.match(lines.text, /ERROR failed \[cameras\]\n {4}Error: outer\n {4} {4}at /)
  t.match(lines.text, /DEBUG small/)
  for (const said of Object.values(lines)) t.notMatch(said, 'xyzzy')
  t.equal(
    lines.json
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)).length,
    5,
  )
})

t.test('the clock counts as wrong only when the system says so', async (t) => {
  const built = Date.UTC(2026, 0, 1)
  const timesyncFolder = join(folder, 'timesync')
  const clock = new SimulatedClock(built)
  const says: Record<string, string> = {}
  const ask = async (program: string) => says[program]
  const sync = new ClockSync({ clock, builtAtMs: built, timesyncFolder, ask })
  const isTrusted = async () => {
    await sync.look()
    return sync.isTrusted()
  }
  t.equal(await isTrusted(), true, 'nothing can say')
  t.equal(sync.isTrusted(built - 1), false, 'before the program was built')
  mkdirSync(timesyncFolder)
  t.equal(await isTrusted(), false, 'timesyncd runs and has not synchronized')
  writeFileSync(join(timesyncFolder, 'synchronized'), '')
  t.equal(await isTrusted(), true)
  says['timedatectl'] = 'NTP=yes\nNTPSynchronized=no\n'
  t.equal(await isTrusted(), false, 'timesyncd was synchronized once and is not any more')
  says['timedatectl'] = 'NTP=yes\nNTPSynchronized=yes\n'
  t.equal(await isTrusted(), true)
  rmSync(timesyncFolder, { recursive: true })
  const tracking = (dispersion: string, leap: string) =>
    `C0000201,192.0.2.1,3,1772438400.1,0.00001,0.00002,0.00003,-1.5,0.001,0.02,0.008,${dispersion},64.2,${leap}\n`
  for (const [line, trusted, why] of [
    [tracking('0.003', 'Normal'), true, 'chrony is synchronized'],
    [tracking('0.003', 'Insert second'), true, 'also before a leap second'],
    [tracking('0.003', 'Not synchronised'), false, 'chrony says that it is not'],
    [tracking('7.5', 'Normal'), false, 'it lost its servers so long ago that it may be seconds off'],
    ['506 Cannot talk to daemon\n', true, 'chrony does not run'],
  ] as const) {
    says['chronyc'] = line
    t.equal(await isTrusted(), trusted, why)
  }
})

t.test('the system is asked for its clock every minute, never for an event', async (t) => {
  const clock = new SimulatedClock()
  let asked = 0
  const ask = async (program: string) => {
    if (program !== 'chronyc') return undefined
    asked += 1
    return asked === 2 ? ',,0.1,0.2,64,Not synchronised' : undefined
  }
  const sync = new ClockSync({ clock, builtAtMs: 0, timesyncFolder: join(folder, 'nowhere'), ask })
  await sync.start()
  for (let event = 0; event < 1000; event += 1) sync.isTrusted()
  t.equal(asked, 1)
  clock.advance(60_000)
  while (sync.isTrusted()) await new Promise((resolve) => setImmediate(resolve))
  t.equal(asked, 2)
  sync.stop()
  clock.advance(600_000)
  t.equal(asked, 2)
})
