import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { LocalAccount } from '../../src/auth/index.ts'
import { gatehouse } from '../../test/support/process.ts'
import { freePort } from '../demo-parts/ports.ts'
import { writeConfig } from './site.ts'
import type { Workshop } from './workshop.ts'

const giveUpMs = 30_000
const lookEveryMs = 2

/** A server in a separate process that has answered. */
export type Served = {
  readonly pid: number
  readonly url: string
  /** From the start of the process to its first answer. */
  readonly answeredAfterMs: number
  end(): Promise<void>
}

export type Program = {
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  readonly port: number
  /** Answers with 200 as soon as the program serves. */
  readonly path: string
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** `scripts/gatehouse serve` over the state in `folder`; `alsoListen`: entries of `listen` beside the one that is asked. */
export async function serveGateway(
  workshop: Workshop,
  folder: string,
  account: LocalAccount,
  { alsoListen = [], ...known }: Record<string, unknown> & { alsoListen?: readonly object[] } = {},
): Promise<Served> {
  const port = await freePort()
  const file = writeConfig(folder, account, { ...known, listen: [{ host: '127.0.0.1', port }, ...alsoListen] })
  const args = ['serve', '--config', file]
  return serve(workshop, { command: gatehouse, args, folder, port, path: '/api/ping', env: unitMemory() })
}

/** Returns the variables of memory that the unit of systemd sets. */
export function unitMemory(): Record<string, string> {
  const unit = readFileSync(join(import.meta.dirname, '../../systemd/gatehouse.service'), 'utf8')
  const lines = unit.matchAll(/^Environment=(NODE_OPTIONS|MALLOC_\w+)=(.*)$/gm)
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]))
}

/** Starts a program. Rejects with its last words when it ends, or does not answer in 30 s. */
export async function serve(workshop: Workshop, { command, args, folder, port, path, env }: Program): Promise<Served> {
  const url = `http://127.0.0.1:${port}`
  const logFile = join(folder, 'served.log')
  const log = openSync(logFile, 'w')
  const startedMs = performance.now()
  const child = workshop.owns(
    spawn(command, args, { cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', log, log] }),
  )
  closeSync(log)
  const ended = once(child, 'exit')
  while (!(await isAnswered(`${url}${path}`))) {
    if (child.exitCode !== null || performance.now() > startedMs + giveUpMs)
      throw new Error(`${command} does not serve; it said:\n${readFileSync(logFile, 'utf8')}`)
    await pause(lookEveryMs)
  }
  const answeredAfterMs = performance.now() - startedMs
  const end = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { pid: child.pid ?? 0, url, answeredAfterMs, end }
}

function isAnswered(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('error', () => resolve(false))
  })
}
