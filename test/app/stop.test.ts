import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stopAll } from '../../src/app/stop.ts'
import { createLogger } from '../../src/platform/index.ts'
import { diskShim, withShim } from '../support/disk/shim.ts'
import { startDaemon } from '../support/process.ts'
import { eventually } from '../support/waiting.ts'
import { ada, configText, folder } from './daemon-folder.ts'

t.test('a step that fails or hangs keeps no other from ending, and the files are closed', async (t) => {
  const ended: string[] = []
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line) })
  const step = (name: string) => ({ name, end: () => void ended.push(name) })
  const fails = () => {
    throw new Error('it fails')
  }
  await stopAll(
    [
      { ...step('checkpoints'), isAlone: true },
      { name: 'hanging', end: () => new Promise<never>(() => {}) },
      { name: 'failing', end: fails },
      step('listener'),
    ],
    { close: () => void ended.push('files') },
    log,
    1000,
  )
  t.strictSame(ended, ['listener', 'checkpoints', 'files'], 'the last one signs what the others wrote')
  t.match(lines.join(''), /"part":"failing"/)
  t.match(lines.join(''), /"part":"hanging"/)
})

t.test('neighbors wait side by side', async (t) => {
  const begun: string[] = []
  const both = Promise.withResolvers<void>()
  const waiting = (name: string) => ({
    name,
    end: () => {
      if (begun.push(name) === 2) both.resolve()
      return both.promise
    },
  })
  await stopAll([waiting('receivers'), waiting('listener')], { close: () => {} }, createLogger({ write: () => {} }))
  t.strictSame(begun, ['listener', 'receivers'])
})

t.test('a daemon ends although no name server answers its look-ups', withShim, async (t) => {
  const cwd = folder(t)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText())
  const shim = diskShim(t, cwd)
  const daemon = await startDaemon(['--config', file], { cwd, env: shim.env })
  t.teardown(() => void daemon.child.kill('SIGKILL'))
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const body = JSON.stringify({ url: `https://${name}.receiver.example/`, events: ['event.created'] })
    const made = await fetch(`${daemon.url}/api/webhooks`, { method: 'POST', headers: ada, body })
    ids.push(((await made.json()) as { id: string }).id)
  }
  shim.hangNames(90_000)
  for (const id of ids)
    void fetch(`${daemon.url}/api/webhooks/${id}/test`, { method: 'POST', headers: ada }).catch(() => {})
  await eventually(
    () => fetch(`${daemon.url}/api/ping`),
    ({ ok }) => ok,
  )
  let code: number | null | undefined
  void daemon.end('SIGTERM').then((ended) => {
    code = ended
  })
  await eventually(
    () => code,
    (ended) => ended !== undefined,
    { withinMs: 40_000 },
  )
  t.equal(code, 0)
  t.match(daemon.log(), /"msg":"stopped"/)
})
