import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { type Running, startGateway } from '../../src/app/index.ts'
import { loadConfig } from '../../src/config/index.ts'
import { type Logger, silentLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import { cheapHash, coolBox, siteUrl } from './gateway.ts'

/** A gateway that serves in this process, as the daemon does, on real time. */
export type RunningBox = {
  readonly running: Running
  readonly cwd: string
  /** Its config file. */
  readonly file: string
  /** Writes the config anew; `running.reload()` takes it. */
  readonly write: (config: Record<string, unknown>) => void
  readonly url: string
  readonly headers: Record<string, string>
}

/** Writes the config of a box whose admin is `ada` with the secret `ada-secret`, and `files` with secrets beside it. */
export function newBox(
  t: Test,
  config: Record<string, unknown> = {},
  files: Record<string, string> = {},
): Omit<RunningBox, 'running' | 'url'> {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-running-'))
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }))
  const file = join(cwd, 'gatehouse.yaml')
  const write = (more: Record<string, unknown>) =>
    writeFileSync(
      file,
      stringify({
        site: { id: 'dc-7', url: siteUrl },
        listen: [{ host: '127.0.0.1', port: 0 }],
        dataDir: 'state',
        runtimeDir: 'run',
        auth: { users: [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }] },
        retention: { minFreeBytes: '1B', ledgerReserveBytes: '1B' },
        ...more,
      }),
      { mode: 0o600 },
    )
  write(config)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), `${text}\n`, { mode: 0o600 })
  const headers = {
    Authorization: 'Bearer ada-secret',
    'X-Storage-Instance': siteUrl,
    'X-Storage-Username': 'ada',
    'Content-Type': 'application/json',
  }
  return { cwd, file, write, headers }
}

export async function runningBox(
  t: Test,
  config: Record<string, unknown> = {},
  files: Record<string, string> = {},
  log: Logger = silentLogger(),
): Promise<RunningBox> {
  const box = newBox(t, config, files)
  const outside = {
    clock: systemClock,
    random: systemRandom,
    log,
    version: '1.2.3',
    configFile: box.file,
    heat: async () => coolBox,
  }
  const running = await startGateway(loadConfig(box.file).config, outside, box.file)
  t.teardown(() => running.stop())
  return { ...box, running, url: `http://127.0.0.1:${running.ports[0]}` }
}
