import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cheapHash } from '../support/gateway.ts'
import { type Daemon, startDaemon } from '../support/process.ts'

export function folder(t: { teardown(end: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-daemon-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export const configText = (more = '') => `site: { id: daemon-test, url: http://127.0.0.1:8480 }
listen: [{ host: 127.0.0.1, port: 0 }]
dataDir: state
runtimeDir: run
auth: { users: [{ username: ada, role: admin, secretHash: "${cheapHash('ada-secret')}" }] }
${more}`

export function withConfig(t: { teardown(end: () => void): void }, more = ''): { cwd: string; file: string } {
  const cwd = folder(t)
  const file = join(cwd, 'gatehouse.yaml')
  writeFileSync(file, configText(more))
  return { cwd, file }
}

export async function start(t: { teardown(end: () => unknown): void }, cwd: string, file: string): Promise<Daemon> {
  const daemon = await startDaemon(['--config', file], { cwd })
  t.teardown(() =>
    daemon.child.exitCode === null && daemon.child.signalCode === null ? daemon.end('SIGKILL') : undefined,
  )
  return daemon
}

export const headers = (username: string, secret: string) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': 'http://127.0.0.1:8480',
  'X-Storage-Username': username,
  'Content-Type': 'application/json',
})
export const ada = headers('ada', 'ada-secret')
