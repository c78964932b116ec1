/** The way of video out of a process, with real processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/platform/index.ts'
import { VideoPipe, type VideoPipeNeeds } from '../../src/video/video-pipe.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

type Running = { readonly pipe: VideoPipe; readonly child: ChildProcess; readonly seen: () => string }

/** Runs a script of the shell with the pipe as its standard output. */
async function run(t: Test, script: string, needs: Pick<VideoPipeNeeds, 'clock' | 'mayWait'>): Promise<Running> {
  const parts: Buffer[] = []
  const pipe = await VideoPipe.open({ ...needs, onBytes: (bytes) => parts.push(Buffer.from(bytes)) })
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', pipe.end, 'pipe'] })
  pipe.end.destroy()
  t.teardown(() => {
    child.kill('SIGKILL')
    pipe.close()
  })
  return { pipe, child, seen: () => Buffer.concat(parts).toString() }
}

const drained = (pipe: VideoPipe) => new Promise<void>((resolve) => pipe.drain(resolve))

for (const mayWait of [true, false]) {
  t.test(`more than the kernel holds comes whole and in order (may wait: ${mayWait})`, async (t) => {
    const { pipe, child, seen } = await run(t, 'seq 1 400000', { clock: systemClock, mayWait: () => mayWait })
    await once(child, 'exit')
    await drained(pipe)
    const numbers = Array.from({ length: 400_000 }, (_, i) => `${i + 1}\n`).join('')
    t.ok(seen() === numbers, `${seen().length} characters`)
  })
}

t.test('what waits is read when somebody asks, before the answer, and what is left at the end', async (t) => {
  // On this clock no time passes, so nothing is read without being asked for.
  const script = 'echo one; read -r go; echo two; echo written >&2; read -r go; echo three'
  const running = await run(t, script, { clock: new SimulatedClock(0), mayWait: () => true })
  const { pipe, child, seen } = running
  for (; seen() !== 'one\n'; await turn()) pipe.read()
  const [stdin, stderr] = [child.stdin as Writable, child.stderr as Readable]
  const written = once(stderr, 'data')
  stdin.write('go\n')
  await written
  t.equal(seen(), 'one\n', 'it waits')
  pipe.read()
  t.equal(seen(), 'one\ntwo\n')
  stdin.write('go\n')
  await once(child, 'exit')
  t.equal(seen(), 'one\ntwo\n', 'it waits')
  await drained(pipe)
  t.equal(seen(), 'one\ntwo\nthree\n')
})
