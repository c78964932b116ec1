import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ffmpegVersion, locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { unpackNative } from '../../src/platform/machine/native-cache.ts'

const script = Buffer.from('#!/bin/sh\necho "ffmpeg version 7.1-test Copyright"\n')
const sha256 = createHash('sha256').update(script).digest('hex')

function program(path: string, text: string | Buffer = script, mode = 0o755): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

t.test('the configured ffmpeg comes first, then the one in PATH, then the one that came along', async (t) => {
  const folder = t.testdir()
  const own = program(join(folder, 'own'))
  const system = program(join(folder, 'bin', 'ffmpeg'))
  const env = { PATH: `relative:/nowhere:${join(folder, 'bin')}` }
  t.same(locateFfmpeg({ configured: own, env }), { path: own, origin: 'configured' })
  t.same(locateFfmpeg({ configured: null, env }), { path: system, origin: 'system' })
  const bundled = locateFfmpeg({ env: { PKG_NATIVE_CACHE_PATH: folder } })
  t.equal(bundled.origin, 'bundled')
  t.match(await ffmpegVersion(bundled.path), /^N-/)
})

t.test('a configured ffmpeg that is no program is refused, not passed over', async (t) => {
  const folder = t.testdir()
  const plain = program(join(folder, 'plain'), 'text', 0o644)
  t.throws(() => locateFfmpeg({ configured: plain }), { code: 'FFMPEG_NOT_FOUND', message: /is not executable/ })
  t.throws(() => locateFfmpeg({ configured: join(folder, 'none') }), {
    code: 'FFMPEG_NOT_FOUND',
    message: /does not exist/,
  })
  t.throws(() => locateFfmpeg({ configured: folder }), { code: 'FFMPEG_NOT_FOUND' })
})

t.test('a program that is no ffmpeg, or hangs, is named', async (t) => {
  const folder = t.testdir()
  const other = program(join(folder, 'other'), '#!/bin/sh\necho hello\n')
  const hangs = program(join(folder, 'hangs'), '#!/bin/sh\nexec sleep 60\n')
  await t.rejects(ffmpegVersion(other), { code: 'FFMPEG_UNUSABLE', message: /is no ffmpeg/ })
  await t.rejects(ffmpegVersion(hangs, 50), { code: 'FFMPEG_UNUSABLE', message: /no answer in 50 ms/ })
  await t.rejects(ffmpegVersion(join(folder, 'none')), { code: 'FFMPEG_UNUSABLE' })
})

t.test('an unpacked program is used again as long as its bytes are right', async (t) => {
  const env = { PKG_NATIVE_CACHE_PATH: t.testdir() }
  const unpack = (content = () => script) => unpackNative({ name: 'ffmpeg', sha256, content, env })
  const path = unpack()
  t.equal(path, join(env.PKG_NATIVE_CACHE_PATH, 'gatehouse', sha256, 'ffmpeg'))
  t.equal(statSync(path).mode & 0o777, 0o755)
  t.equal(statSync(dirname(path)).mode & 0o777, 0o700)
  t.equal(
    unpack(() => t.fail('read again') as never),
    path,
  )
  writeFileSync(path, 'tampered with')
  chmodSync(path, 0o600)
  t.same(readFileSync(unpack()), script)
  t.equal(statSync(path).mode & 0o777, 0o755)
})

t.test('a folder that is no good is named with what to do', async (t) => {
  const folder = t.testdir({ file: 'x' })
  const into = (place: string) => () =>
    unpackNative({ name: 'ffmpeg', sha256, content: () => script, env: { PKG_NATIVE_CACHE_PATH: place } })
  const unwritable = { code: 'NATIVE_CACHE_UNWRITABLE', message: /set PKG_NATIVE_CACHE_PATH/ }
  t.throws(into(join(folder, 'file', 'x')), unwritable)
  t.throws(into('/proc/gatehouse'), unwritable)
  const shared = join(folder, 'shared', 'gatehouse', sha256)
  mkdirSync(shared, { recursive: true })
  chmodSync(shared, 0o777)
  t.throws(into(join(folder, 'shared')), { code: 'NATIVE_CACHE_FOREIGN', message: /others may write to it/ })
})
