import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { buildBinary, thisArch } from '../../scripts/build.ts'
import { playStory, titles } from '../../scripts/demo-parts/story.ts'

// Building takes some ten seconds, and longer on a busy machine.
t.setTimeout(300_000)

t.test('the single binary plays the whole story from an empty folder with an empty environment', async (t) => {
  const { path } = await buildBinary({ arch: thisArch() })
  const steps = await playStory({ command: path, bare: true, print: () => {} })
  t.same(
    steps.map((step) => step.step),
    Object.values(titles),
    'every step, in order',
  )
})

t.test('the single binary carries its own ffmpeg, Node and SQLite, and unpacks only under its cache', async (t) => {
  const { path } = await buildBinary({ arch: thisArch() })
  const cache = mkdtempSync(join(tmpdir(), 'gatehouse-binary-'))
  t.teardown(() => rmSync(cache, { recursive: true, force: true }))
  const run = (...args: string[]) =>
    execFileSync(path, args, {
      cwd: cache,
      env: { PKG_NATIVE_CACHE_PATH: cache },
      encoding: 'utf8',
      maxBuffer: 16 << 20,
    })
  const version = JSON.parse(run('version', '--json'))
  t.match(version, { node: '24.21.0', sqlite: /^3\./, ffmpeg: { origin: 'bundled', version: String } })
  t.ok(version.ffmpeg.path.startsWith(cache))
  t.equal(statSync(version.ffmpeg.path).mode & 0o777, 0o755)
  t.match(JSON.parse(run('openapi')), { openapi: '3.1.0', paths: { '/api/whms/events': {} } })
  t.match(run('config', 'example'), /^site:$/m)
})
