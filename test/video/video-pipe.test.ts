/** The way of video out of a process, with real processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, Socket, type TcpSocketConnectOpts } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/platform/index.ts'
import { VideoPipe, type VideoPipeNeeds } from '../../src/video/stream/video-pipe.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

type Running = { readonly pipe: VideoPipe; readonly child: ChildProcess; readonly seen: () => string }

/** Runs a script of the shell with the pipe as its standard output. */
async function run(t: Test, script: string, needs: Pick<VideoPipeNeeds, 'clock' | 'mostWaitMs'>): Promise<Running> {
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

for (const waitMs of [300, 0]) {
  t.test(`more than the kernel holds comes whole and in order (may wait: ${waitMs} ms)`, async (t) => {
    const { pipe, child, seen } = await run(t, 'seq 1 400000', { clock: systemClock, mostWaitMs: () => waitMs })
    await once(child, 'exit')
    await drained(pipe)
    const numbers = Array.from({ length: 400_000 }, (_, i) => `${i + 1}\n`).join('')
    t.ok(seen() === numbers, `${seen().length} characters`)
  })
}

t.test('what waits is read when somebody asks, before the answer, and what is left at the end', async (t) => {
  // On this clock no time passes, so nothing is read without being asked for.
  const script = 'echo one; read -r go; echo two; echo written >&2; read -r go; echo three'
  const running = await run(t, script, { clock: new SimulatedClock(0), mostWaitMs: () => 300 })
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

t.test('a second of 8 Mb/s waits without holding up who writes it, and is read when its time is over', async (t) => {
  const clock = new SimulatedClock(0)
  const script = 'echo one; read -r go; head -c 1000000 /dev/zero; echo written >&2; exec tail -f /dev/null'
  const { pipe, child, seen } = await run(t, script, { clock, mostWaitMs: () => 1250 })
  for (; seen() !== 'one\n'; await turn()) pipe.read()
  // How fast it comes is known with the next reading.
  clock.advance(10)
  const [stdin, stderr] = [child.stdin as Writable, child.stderr as Readable]
  const written = once(stderr, 'data')
  stdin.write('go\n')
  await written
  clock.advance(1249)
  t.equal(seen().length, 4, 'it waits')
  clock.advance(1)
  t.equal(seen().length, 1_000_004)
})

t.test('what another program of the box sends to the port is no video', async (t) => {
  const listening = channel('tracing:net.server.listen:asyncEnd')
  const onListening = (message: unknown) => {
    const { port } = (message as { server: Server }).server.address() as AddressInfo
    const stranger = connect({ port, host: '127.0.0.1' }, () => stranger.write('not video\n'))
    stranger.on('error', () => {})
  }
  listening.subscribe(onListening)
  const running = run(t, 'echo video', { clock: systemClock, mostWaitMs: () => 0 })
  const { pipe, child, seen } = await running.finally(() => listening.unsubscribe(onListening))
  await once(child, 'exit')
  await drained(pipe)
  t.equal(seen(), 'video\n')
})

t.test('nor is what comes with the number of our port from another address of the box', async (t) => {
  const listening = channel('tracing:net.server.listen:asyncEnd')
  const real = Socket.prototype.connect
  const onListening = (message: unknown) => {
    listening.unsubscribe(onListening)
    const { port } = (message as { server: Server }).server.address() as AddressInfo
    const stranger = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2', localPort: chosen })
    stranger.on('error', () => {}).write('not video\n')
    // As if the kernel had chosen the same number. `net.connect` passes on what it was given as a list.
    t.capture(Socket.prototype, 'connect', function (this: Socket, [options]: [TcpSocketConnectOpts]) {
      return Reflect.apply(real, this, [{ ...options, localAddress: '127.0.0.1', localPort: chosen }])
    })
  }
  const chosen = await freePort()
  listening.subscribe(onListening)
  const { pipe, child, seen } = await run(t, 'echo video', { clock: systemClock, mostWaitMs: () => 0 })
  await once(child, 'exit')
  await drained(pipe)
  t.equal(seen(), 'video\n')
})

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.3'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
